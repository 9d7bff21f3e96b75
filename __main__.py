"""``python -m aoti_lint``."""

from .cli import main

main()
