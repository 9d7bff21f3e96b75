"""Questions that rules ask of an analysis."""
