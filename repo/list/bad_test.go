package list

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
)

// raw builds bytes by hand: header, ids and columns as given.
type raw struct {
	version, widths byte
	there           uint16
	counts          []uint32
	ids             []uint64
	columns         [][]byte
}

func (r raw) bytes() []byte {
	b := []byte{r.version, r.widths}
	b = binary.BigEndian.AppendUint16(b, r.there)
	for _, n := range r.counts {
		b = appendCount(b, n, int(r.widths>>4))
	}
	for _, id := range r.ids {
		b = appendID(b, id, int(r.widths&15))
	}
	for _, col := range r.columns {
		b = append(binary.AppendUvarint(b, uint64(len(col))), col...)
	}
	return b
}

// one is a list of one section with the given ids and column.
func one(s Section, ids []uint64, col ...byte) []byte {
	return raw{3, 0x14, 1 << s, []uint32{uint32(len(ids))}, ids, [][]byte{col}}.bytes()
}

// badInputs are the saved inputs, by what is wrong with them.
func badInputs() map[string][]byte {
	all := map[string][]byte{}
	for _, add := range []func(map[string][]byte){badHeaders, badLengths, badIDs, badTimes, badOptions} {
		add(all)
	}
	return all
}

// findsBad says which of Parse, Open and Check finds out an input, the
// cheapest that has to.
func findsBad(name string) string {
	switch name {
	case "width_8_empty", "width_8_for_small_ids", "twice_apart", "twice_among_edges", "twice_blocking":
		return "Check"
	}
	parse := map[string][]byte{}
	badHeaders(parse)
	badLengths(parse)
	if _, ok := parse[name]; ok {
		return "Parse"
	}
	return "Open"
}

func badHeaders(all map[string][]byte) {
	followers := func(widths byte, n int) []byte {
		return raw{3, widths, 1 << Followers, []uint32{uint32(n)}, slices.Repeat([]uint64{1}, n), [][]byte{{9}}}.bytes()
	}
	all["no_bytes"] = nil
	all["short_header"] = []byte{3, 0x14, 0}
	all["version_0"] = []byte{0, 0x14, 0, 0}
	all["version_1"] = []byte{1, 4, 0, 2, 0, 0, 0, 1, 0, 0, 0, 7, 1, 9}
	all["version_2"] = []byte{2, 0x14, 0, 0}
	all["version_4"] = []byte{4, 0x14, 0, 0}
	all["width_5"] = []byte{3, 0x15, 0, 0}
	all["width_8_empty"] = []byte{3, 0x18, 0, 0}
	all["count_width_0"] = followers(0x04, 1)
	all["count_width_3"] = followers(0x34, 1)
	all["count_width_2_empty"] = []byte{3, 0x24, 0, 0}
	all["count_width_2_for_255"] = followers(0x24, 255)
	all["count_width_4_for_256"] = followers(0x44, 256)
	all["unknown_section"] = raw{3, 0x14, 1 << 9, []uint32{1}, []uint64{1}, [][]byte{{1}}}.bytes()
	all["count_0"] = raw{3, 0x14, 1<<Followers | 1<<Following, []uint32{0, 1}, []uint64{1}, nil}.bytes()
	all["counts_end_early"] = []byte{3, 0x14, 0, 3, 1}
}

func badLengths(all map[string][]byte) {
	good := one(Followers, []uint64{3, 2}, 9, 1)
	ids := good[:13:13]
	all["tail"] = append(slices.Clone(good), 0)
	all["cut"] = good[:len(good)-1]
	all["ids_end_early"] = good[:11]
	all["count_huge"] = raw{3, 0x48, 1 << Friends, []uint32{math.MaxUint32}, []uint64{1}, nil}.bytes()
	all["column_length_padded"] = append(ids, 0x82, 0x00, 9, 1)
	all["column_length_endless"] = append(ids, bytes.Repeat([]byte{0xff}, 9)...)
	all["column_empty_at_end"] = append(ids, 0)
	all["column_empty_behind_others"] = raw{3, 0x14, 1<<Followers | 1<<Following, []uint32{1, 1}, []uint64{2, 3}, [][]byte{{9}, nil}}.bytes()
}

func badIDs(all map[string][]byte) {
	all["id_0"] = one(Muting, []uint64{0}, 9)
	all["id_past_max"] = raw{3, 0x18, 1 << Followers, []uint32{1}, []uint64{MaxID + 1}, [][]byte{{9}}}.bytes()
	all["width_8_for_small_ids"] = raw{3, 0x18, 1 << Followers, []uint32{1}, []uint64{5}, [][]byte{{9}}}.bytes()
	all["twice_side_by_side"] = one(Followers, []uint64{2, 2}, 9)
	all["twice_apart"] = one(Followers, []uint64{2, 3, 2}, 9, 1, 1)
	all["twice_among_edges"] = raw{3, 0x14, 1<<Followers | 1<<Following, []uint32{1, 1}, []uint64{2, 2}, [][]byte{{9}, {8}}}.bytes()
	all["twice_blocking"] = one(Blocking, []uint64{2, 2}, 9, 1)
	all["order_within_second"] = one(Followers, []uint64{2, 3}, 9)
	all["order_of_friends"] = one(Friends, []uint64{2, 3}, 9)
	all["order_of_options"] = one(Options, []uint64{3, 2}, 1, 1)
	all["option_id_twice"] = one(Options, []uint64{2, 2}, 1, 1)
	all["option_id_0"] = one(Options, []uint64{0}, 1)
}

func badTimes(all map[string][]byte) {
	tooLate := binary.AppendUvarint(nil, math.MaxUint32+1)
	all["time_past_32_bits"] = one(Followers, []uint64{2}, tooLate...)
	all["time_below_0"] = one(Followers, []uint64{3, 2}, 1, 2)
	all["time_padded"] = one(Followers, []uint64{2}, 0x81, 0)
	ten := []uint64{19, 18, 17, 16, 15, 14, 13, 12, 11, 10}
	all["time_padded_far_from_end"] = one(Followers, ten, append([]byte{0x81, 0}, bytes.Repeat([]byte{1}, 9)...)...)
	all["time_of_6_bytes_far_from_end"] = one(Followers, ten, append([]byte{0x80, 0x80, 0x80, 0x80, 0x80, 1}, bytes.Repeat([]byte{1}, 9)...)...)
	all["time_of_6_bytes"] = one(Followers, []uint64{2}, 0x80, 0x80, 0x80, 0x80, 0x80, 1)
	all["time_endless"] = one(Followers, []uint64{2}, bytes.Repeat([]byte{0x80}, 12)...)
	all["times_end_early"] = one(Followers, []uint64{3, 2}, 9, 0x80)
	all["times_end_late"] = one(Followers, []uint64{3, 2}, 9, 1, 1)
	all["friend_other_time_below_0"] = one(Friends, []uint64{2}, append([]byte{9}, binary.AppendUvarint(nil, zigzag(-10))...)...)
	all["friend_other_time_above"] = one(Friends, []uint64{2}, append([]byte{9}, binary.AppendUvarint(nil, zigzag(10))...)...)
	all["friend_other_time_ends_early"] = one(Friends, []uint64{2}, 9, 0x80)
	all["times_end_with_0"] = one(Followers, []uint64{3, 2}, 9, 0)
	all["times_unknown_written"] = one(Followers, []uint64{3, 2}, 0, 0)
	all["friend_other_time_ends_with_0"] = one(Friends, []uint64{2}, 9, 0)
}

func badOptions(all map[string][]byte) {
	entry := func(col ...byte) []byte { return one(Options, []uint64{2}, col...) }
	text := func(flag byte, s []byte) []byte {
		return entry(append(binary.AppendUvarint([]byte{flag}, uint64(len(s))), s...)...)
	}
	all["option_zero"] = entry(0)
	all["option_unknown_flag"] = entry(64)
	all["option_ends_late"] = entry(1, 1)
	all["option_mute_0"] = entry(8, 0, 0, 0, 0)
	all["option_mute_cut"] = entry(8, 1, 1)
	all["option_note_text"] = entry(16, 1, 'a')
	all["option_languages_empty"] = entry(32, 0)
	all["option_language_bad"] = text(32, []byte("d e"))
	all["option_language_missing"] = text(32, []byte("de,,en"))
	all["option_language_too_long"] = text(32, bytes.Repeat([]byte{'a'}, MaxLanguage+1))
	all["option_languages_too_many"] = text(32, bytes.TrimSuffix(bytes.Repeat([]byte("a,"), MaxLanguages+1), []byte(",")))
	all["no_column"] = raw{3, 0x14, 1 << Options, []uint32{1}, []uint64{2}, nil}.bytes()
	all["options_end_early"] = one(Options, []uint64{2, 3}, 16)
}
