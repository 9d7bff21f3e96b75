"""What the stages hand to each other: programs, kernels, findings, element types, locations."""
