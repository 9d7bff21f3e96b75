"""``--format json``: schema ``aoti-lint/1``; ``schema.json`` beside this file describes it."""

from __future__ import annotations

import json

from ..findings import Report
from . import Context


def render(report: Report, context: Context) -> str:
    return json.dumps(report.to_json(), indent=1) + "\n"
