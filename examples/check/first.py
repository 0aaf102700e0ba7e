# Forgets to sort: the suite refuses it at its first test.
def middle(numbers):
    return numbers[len(numbers) // 2]
