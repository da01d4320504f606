"""Scheduled tasks: reminders, timers, delayed actions, questions and camera checks for later."""
