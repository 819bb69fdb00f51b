package cache

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"
)

func sealing(t testing.TB, id Identity) *sealer {
	t.Helper()
	return newSealer(id)
}

// An identity whose secret is 0, 1, 2, …, 31.
func counting() (id Identity) {
	id.ID = 1<<40 | 5 // of which 40 bits stand in keys
	for i := range id.Secret {
		id.Secret[i] = byte(i)
	}
	return id
}

// TestSealer_Golden guards what other processes check.
func TestSealer_Golden(t *testing.T) {
	n := sealing(t, counting())
	if n.prefix != "5:" {
		t.Errorf("keys begin with %q", n.prefix)
	}
	if got := hex.EncodeToString(n.seal("kith:5:r3abc", []byte("item"))); got != "6974656d"+"b0a4323e632c162c" {
		t.Errorf("sealed: %s", got)
	}
}

// Whatever is changed, of the bytes, the checksum, the key or the secret, is found.
func TestSealer_Open_Changed(t *testing.T) {
	n := sealing(t, counting())
	key, b := "5:r3abc", encode(Entry{Ver: 7, Value: []byte("row"), Body: []byte("list")})
	sealed := n.seal(key, bytes.Clone(b))
	if got, err := n.open(key, sealed); err != nil || !bytes.Equal(got, b) {
		t.Fatalf("got %x, %v; want %x", got, err, b)
	}
	refused := func(what string, n *sealer, key string, b []byte) {
		t.Helper()
		if _, err := n.open(key, b); !errors.Is(err, errLayout) {
			t.Errorf("%s: got %v, want a refusal", what, err)
		}
	}
	for i := range sealed {
		for bit := range 8 {
			changed := bytes.Clone(sealed)
			changed[i] ^= 1 << bit
			refused(fmt.Sprintf("bit %d of byte %d", bit, i), n, key, changed)
		}
	}
	for i := range sealed {
		refused(fmt.Sprintf("the first %d bytes", i), n, key, sealed[:i])
		refused(fmt.Sprintf("without the first %d bytes", i+1), n, key, sealed[i+1:])
	}
	refused("one byte more", n, key, append(bytes.Clone(sealed), 0))
	refused("another key", n, "5:r3abd", sealed)
	refused("the key of its body", n, key+bodySuffix, sealed)
	refused("a part of the key that went to the bytes", n, key[:len(key)-1], append([]byte(key[len(key)-1:]), sealed...))
	other := counting()
	other.Secret[31]++
	refused("another secret", sealing(t, other), key, sealed)
	other = counting()
	other.Secret[0]++
	refused("another secret", sealing(t, other), key, sealed)
}

// BenchmarkTag is the checksum of an item, of a head and of a list of 10,000.
func BenchmarkTag(b *testing.B) {
	n := sealing(b, counting())
	for _, size := range []int{200, 80 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			item := make([]byte, size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				n.tag("5:r3abcdef", item)
			}
		})
	}
}
