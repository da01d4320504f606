"""Tests of the documentation: every block in it is run, and every sentence that can be looked up is looked up."""
