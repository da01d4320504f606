"""What assistants changed, and how it is taken back."""
