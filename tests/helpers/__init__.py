"""Helpers of the tests, such as fake devices and recorded pasts, and tests of these helpers."""
