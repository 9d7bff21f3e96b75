"""Runtime profiles: dated data on what a runtime does with what a wrapper asks."""
