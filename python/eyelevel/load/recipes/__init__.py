"""Recipes: programs that serve a recorded site with servers that others wrote."""
