"""An eye-level comparison of web protocol stacks."""
