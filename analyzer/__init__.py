"""Analysis of generated wrappers: sources, frontends, program model, replay, bounds."""
