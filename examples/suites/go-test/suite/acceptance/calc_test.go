// Package acceptance is what the customer asked of calc.
package acceptance

import (
	"testing"

	"example.com/calc"
)

func TestAdds(t *testing.T) {
	if got := calc.Add(2, 3); got != 5 {
		t.Fatalf("Add(2, 3) = %d", got)
	}
}

func TestDivision(t *testing.T) {
	t.Run("divides", func(t *testing.T) {
		if got, err := calc.Divide(6, 3); got != 2 || err != nil {
			t.Fatalf("Divide(6, 3) = %d, %v", got, err)
		}
	})
	t.Run("refuses zero", func(t *testing.T) {
		if _, err := calc.Divide(1, 0); err == nil {
			t.Fatal("Divide(1, 0) is no error")
		}
	})
}
