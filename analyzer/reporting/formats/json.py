"""``--format json``: schema ``aoti-lint/1``; ``schema.json`` beside this file describes it."""

from __future__ import annotations

import json

from ...model.findings import Report
from ..compare import compared, rows
from . import Context


def render(report: Report, context: Context) -> str:
    data = report.to_json()
    if compared(report):
        data["runtimes"] = [row.to_json() for row in rows(report)]
    return json.dumps(data, indent=1) + "\n"
