// Package calc is a calculator.
package calc

import "errors"

// Add gives the sum.
func Add(a, b int) int { return a + b }

// Divide gives the quotient, or an error for the divisor zero.
func Divide(a, b int) (int, error) {
	if b == 0 {
		return 0, errors.New("division by zero")
	}
	return a / b, nil
}
