"""What runs for long: each module has `run(budget) -> Found`, and a row in SOAKS; `script/soak` runs them."""
