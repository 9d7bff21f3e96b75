"""Python wrappers, as ``torch.compile`` generates them: their text to a program. Nothing in it is executed."""
