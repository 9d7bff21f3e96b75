"""A program under a runtime profile: which storage backs each tensor, and what happens to it."""
