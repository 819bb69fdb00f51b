package bulk

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"

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
	isRepeat // Target is the first such line
	isHeld   // there is a post
)

// header is what the phases know of a line, at the start of its record.
type header struct {
	State, Kind, Visibility, _ uint8
	Body                       uint32 // its length
	Line                       int64
	Account                    uint64
	Created                    int64 // milliseconds since event.Epoch
	At                         int64 // the same, after what it answers
	ID                         uint64
	// Target is where the line stands that it answers or reposts, and 1; 0: none.
	Target   int64
	Key, Ref hash
}

var headerBytes = binary.Size(header{})

// spool is the lines on disk. They are written one behind the other, then their headers
// are changed.
type spool struct {
	file *os.File
	to   *bufio.Writer
	end  int64
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
func (s *spool) add(h *header, c *post.Content) (at int64, err error) {
	body, err := json.Marshal(c)
	if err != nil {
		return 0, err
	}
	h.Body, at = uint32(len(body)), s.end
	b, err := binary.Append(make([]byte, 0, headerBytes+len(body)), binary.LittleEndian, h)
	if err == nil {
		_, err = s.to.Write(append(b, body...))
	}
	s.end += int64(headerBytes + len(body))
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
	b, err := s.text(at, h)
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	return c, onDisk(err)
}

func (s *spool) text(at int64, h *header) ([]byte, error) {
	b := make([]byte, h.Body)
	_, err := s.file.ReadAt(b, at+int64(headerBytes))
	return b, onDisk(err)
}

func (s *spool) close() error { return s.file.Close() }
