"""Pictures of an analysis: the report page, and the alias graph as a drawing."""
