package spill

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

// ErrDamaged says that a run gave back other bytes than were written.
var ErrDamaged = errors.New("damaged sort file")

const (
	blockRecords = 3276 // 64 KiB
	blockHeader  = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// run is a file of sorted records.
type run struct {
	file  *os.File
	n     int64
	level int
}

// source is what records come out of, in order.
type source interface {
	// next returns io.EOF after the last record.
	next() (Record, error)
}

// writeRun writes everything from src to a new file in dir.
func writeRun(ctx context.Context, dir string, level int, src source) (*run, error) {
	file, err := os.CreateTemp(dir, "kith-sort-*")
	if err != nil {
		return nil, fmt.Errorf("make a sort file: %w", err)
	}
	r := &run{file: file, level: level}
	if err = os.Remove(file.Name()); err == nil {
		err = r.write(ctx, src)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write a sort file in %s: %w", dir, err), r.close())
	}
	return r, nil
}

func (r *run) write(ctx context.Context, src source) error {
	w := bufio.NewWriterSize(r.file, 1<<18)
	block := make([]byte, blockHeader, blockHeader+blockRecords*diskBytes)
	for {
		rec, err := src.next()
		if err != nil && err != io.EOF {
			return err
		}
		if err == nil {
			block = rec.append(block)
			r.n++
		}
		if len(block) == cap(block) || err == io.EOF && len(block) > blockHeader {
			body := block[blockHeader:]
			binary.LittleEndian.PutUint32(block, uint32(len(body)/diskBytes))
			binary.LittleEndian.PutUint32(block[4:], crc32.Checksum(body, castagnoli))
			if _, err := w.Write(block); err != nil {
				return err
			}
			block = block[:blockHeader]
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return w.Flush()
		}
	}
}

func (r *run) close() error { return r.file.Close() }

// runReader reads one run from its start. Several may read the same run.
type runReader struct {
	in    io.Reader
	left  int64 // records not read from the file yet
	body  []byte
	block []byte // what is left of body
	last  Record
}

func (r *run) reader() *runReader {
	return &runReader{in: io.NewSectionReader(r.file, 0, 1<<62), left: r.n}
}

func (r *runReader) next() (Record, error) {
	if len(r.block) == 0 {
		if r.left == 0 {
			return Record{}, io.EOF
		}
		if err := r.fill(); err != nil {
			return Record{}, fmt.Errorf("read a sort file: %w", err)
		}
	}
	rec := readRecord(r.block)
	r.block = r.block[diskBytes:]
	if Compare(rec, r.last) < 0 {
		return Record{}, fmt.Errorf("read a sort file: %w: out of order", ErrDamaged)
	}
	r.last = rec
	return rec, nil
}

// fill reads and checks the next block.
func (r *runReader) fill() error {
	var header [blockHeader]byte
	if err := r.read(header[:]); err != nil {
		return err
	}
	n := binary.LittleEndian.Uint32(header[:])
	if n == 0 || n > blockRecords || int64(n) > r.left {
		return fmt.Errorf("%w: a block of %d records, %d are left", ErrDamaged, n, r.left)
	}
	if r.body == nil {
		r.body = make([]byte, min(r.left, blockRecords)*diskBytes)
	}
	r.block = r.body[:n*diskBytes]
	if err := r.read(r.block); err != nil {
		return err
	}
	if crc32.Checksum(r.block, castagnoli) != binary.LittleEndian.Uint32(header[4:]) {
		return fmt.Errorf("%w: wrong sum", ErrDamaged)
	}
	r.left -= int64(n)
	return nil
}

func (r *runReader) read(b []byte) error {
	_, err := io.ReadFull(r.in, b)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("%w: it ends early", ErrDamaged)
	}
	return err
}
