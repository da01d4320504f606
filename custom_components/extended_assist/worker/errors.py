"""What the worker answers when it does not do what it was asked."""


class JobError(Exception):
    """A job cannot be done; the message says why, in words that hold nothing but what the asker may see."""


class TooMuchToCopyError(JobError):
    """There is more than may be copied."""
