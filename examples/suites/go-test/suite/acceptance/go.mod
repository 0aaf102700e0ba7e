module acceptance

go 1.18
