"""From findings to text: selection, suppression, fingerprints, formats, pages."""
