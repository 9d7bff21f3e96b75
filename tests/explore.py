"""How much the tests look at."""

from __future__ import annotations

import os

#: With AOTI_LINT_EXPLORE=1 hypothesis looks at new examples, and suites of many mutants are whole.
EXPLORE = bool(os.environ.get("AOTI_LINT_EXPLORE"))
