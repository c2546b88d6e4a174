"""Where the repository is: no test counts the folders above it."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
