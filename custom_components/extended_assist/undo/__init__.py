"""How what assistants changed is taken back."""
