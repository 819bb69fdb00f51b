package relation

// Repacked makes rows that were swapped as if they had been packed again.
func Repacked(rows []Row) []Row {
	for i := range rows {
		rows[i].Meta = rows[i].Next(rows[i].UpdatedAt)
	}
	return rows
}
