package bulk

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"kith/app/intake"
	"kith/repo/post"
)

// The kinds of lines.
const (
	isPost uint8 = iota
	isReply
	isRepost
)

// What becomes of a line.
const (
	isGood uint8 = iota
	isRejected
	isRepeat  // Target is the first such line
	isHeld    // there is a post
	isNaming  // Target is the line that it names, which was not followed yet
	isWaiting // for that line, which is being followed
)

// header is what the phases know of a line, at the start of its record.
type header struct {
	State, Kind, Visibility uint8
	Quote                   uint8  // its length
	Body                    uint32 // its length
	Line                    int64
	Account                 uint64
	Created                 int64 // milliseconds since event.Epoch
	At                      int64 // the same, after what it answers
	ID                      uint64
	// Target is where the line stands that it answers or reposts, and 1; 0: none.
	Target int64
	// Back is where the line stands that waits for this one, and 1; 0: none.
	Back     int64
	Key, Ref hash
}

var headerBytes = int64(binary.Size(header{}))

// size is how long the line is on disk.
func (h *header) size() int64 { return headerBytes + int64(h.Quote) + int64(h.Body) }

// spool is the lines on disk: of each the header, its start as it stood in the file, and its
// content. They are written one behind the other, then their headers are changed.
type spool struct {
	file interface {
		io.ReaderAt
		io.WriterAt
		io.Closer
	}
	to  *bufio.Writer
	end int64
}

// newSpool makes a file that is gone when it is closed.
func newSpool(dir string) (*spool, error) {
	file, err := os.CreateTemp(dir, "kith-posts-*")
	if err == nil {
		err = os.Remove(file.Name())
	}
	if err != nil {
		return nil, fmt.Errorf("make a file for posts: %w", err)
	}
	return &spool{file: file, to: bufio.NewWriterSize(file, 1<<18)}, nil
}

// add appends a line and returns where it stands.
func (s *spool) add(h *header, line []byte, c *post.Content) (at int64, err error) {
	body, err := json.Marshal(c)
	if err != nil {
		return 0, err
	}
	line = line[:min(len(line), intake.MaxQuote)]
	h.Quote, h.Body, at = uint8(len(line)), uint32(len(body)), s.end
	b, err := binary.Append(make([]byte, 0, h.size()), binary.LittleEndian, h)
	if err == nil {
		_, err = s.to.Write(append(append(b, line...), body...))
	}
	s.end += h.size()
	return at, onDisk(err)
}

func onDisk(err error) error {
	if err != nil {
		err = fmt.Errorf("the file of posts on disk: %w", err)
	}
	return err
}

// flush ends the adding.
func (s *spool) flush() error { return onDisk(s.to.Flush()) }

// get reads a header.
func (s *spool) get(at int64) (h header, err error) {
	b := make([]byte, headerBytes)
	if _, err = s.file.ReadAt(b, at); err == nil {
		_, err = binary.Decode(b, binary.LittleEndian, &h)
	}
	return h, onDisk(err)
}

// put writes a header.
func (s *spool) put(at int64, h *header) error {
	b, err := binary.Append(make([]byte, 0, headerBytes), binary.LittleEndian, h)
	if err == nil {
		_, err = s.file.WriteAt(b, at)
	}
	return onDisk(err)
}

// content reads what was written in a line.
func (s *spool) content(at int64, h *header) (c post.Content, err error) {
	b, err := s.read(at+headerBytes+int64(h.Quote), h.Body)
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	return c, onDisk(err)
}

// quote reads the start of a line as it stood in the file.
func (s *spool) quote(at int64, h *header) ([]byte, error) {
	return s.read(at+headerBytes, uint32(h.Quote))
}

func (s *spool) read(at int64, n uint32) ([]byte, error) {
	b := make([]byte, n)
	_, err := s.file.ReadAt(b, at)
	return b, onDisk(err)
}

func (s *spool) close() error { return s.file.Close() }
