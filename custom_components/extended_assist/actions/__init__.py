"""What is to be done to the home: checked before it is done, done under watch, or later."""
