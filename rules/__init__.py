"""Rules, one file each; :mod:`.registry` says what a rule is, finds them and runs them."""
