package relation

// Repacked makes rows that were swapped as if they had been packed again.
func Repacked(rows []Row) []Row {
	for i := range rows {
		rows[i].step = 0
	}
	return rows
}
