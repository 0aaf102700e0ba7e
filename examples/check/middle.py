def middle(numbers):
    ordered, half = sorted(numbers), len(numbers) // 2
    if len(ordered) % 2:
        return ordered[half]
    return (ordered[half - 1] + ordered[half]) / 2
