"""Tests of when a call needs the user's word, how it is asked, and how the reply is read."""
