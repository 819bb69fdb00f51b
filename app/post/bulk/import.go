package bulk

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"
	"unicode/utf8"

	"kith/app/intake"
	"kith/repo"
	"kith/repo/event"
	"kith/repo/post"
	"kith/repo/spill"
)

// importer is one import under way.
type importer struct {
	cfg    Config
	phases intake.Phases
	now    time.Time

	ids   map[uint64]bool   // whether there is such an account
	names map[string]uint64 // 0: nobody has it

	bad     *intake.Rejects
	unread  int64 // lines that were rejected before they were kept
	lines   *spool
	keys    *spill.Sorter // lines by their keys
	refs    *spill.Sorter // lines by the keys that they name
	timed   *spill.Sorter // the same lines by time
	slots   *spill.Sorter // lines by id
	authors *spill.Sorter // lines without a post, by author
	targets *spill.Sorter // lines by the post that they answer or repost

	mu  sync.Mutex // guards what follows, and bad
	sum Summary
}

// Import reads posts into the database and returns what it did, also where it fails. Apart
// from the errors of the stores and the disk it returns intake.ErrRejects,
// intake.ErrUnreadable, or the error of ctx; with intake.ErrPartial around it where something
// was written. The package doc says what holds then.
func Import(ctx context.Context, cfg Config) (Summary, error) {
	cfg.Config = cfg.Config.WithDefaults()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the reading ahead
	start := time.Now()
	im := &importer{cfg: cfg, phases: intake.Phases{Tell: cfg.Progress}, now: cfg.Now(), ids: map[uint64]bool{}, names: map[string]uint64{},
		bad: intake.NewRejects(cfg.Rejects, cfg.MaxRejects), sum: Summary{DryRun: cfg.DryRun}}
	all := []**spill.Sorter{&im.keys, &im.refs, &im.timed, &im.slots, &im.authors, &im.targets}
	for _, s := range all {
		*s = spill.New(spill.Config{Dir: cfg.TempDir, Memory: cfg.Memory / 24}) // Go lets garbage double what is held
	}
	var err error
	if im.lines, err = newSpool(cfg.TempDir); err == nil {
		err = im.run(ctx)
		err = errors.Join(err, im.bad.Flush(), im.lines.close())
	}
	for _, s := range all {
		err = errors.Join(err, (*s).Close())
	}
	im.sum.Rejected = im.bad.Len()
	im.sum.Duration = time.Since(start)
	return im.sum, err
}

func (im *importer) run(ctx context.Context) error {
	err := im.phases.Run(ctx, intake.Phase{Name: "read", Do: im.read}, intake.Phase{Name: "link", Do: im.link})
	if err != nil {
		return err
	}
	if im.cfg.DryRun {
		im.sum.New = im.keys.Len() - im.bad.Len() - im.sum.Repeats + im.unread
		return nil
	}
	return im.phases.Run(ctx, intake.Phase{Name: "place", Do: im.place},
		intake.Phase{Name: "posts", Do: im.posts, Left: "some posts are imported, and replies and reposts are not counted until it is run again"},
		intake.Phase{Name: "counts", Do: im.counts, Left: "some replies and reposts are not counted until it is run again"})
}

// readAtOnce is how many lines are read before their accounts are looked up together.
const readAtOnce = 256

// rawLine is a line as it was read.
type rawLine struct {
	no   int64
	text []byte
	line Line
	err  error
}

// read takes the lines of the file.
func (im *importer) read(ctx context.Context) error {
	in := intake.Open(ctx, im.cfg.Reader, maxLine)
	var some []rawLine
	for {
		text, end, err := in.Next()
		if err != nil && err != io.EOF {
			return err
		}
		if err == nil {
			im.sum.Lines++
			if text = bytes.TrimSpace(text); len(text) == 0 && end != intake.TooLong {
				im.sum.Empty++
				continue
			}
			some = append(some, decode(im.sum.Lines, bytes.Clone(text), end))
		}
		if len(some) == readAtOnce || err == io.EOF {
			if err := im.take(ctx, some); err != nil {
				return err
			}
			some = some[:0]
			im.phases.Reach(in.Taken(), in.Size)
		}
		if err == io.EOF {
			return im.lines.flush()
		}
	}
}

// decode reads a line as JSON.
func decode(no int64, text []byte, end intake.Ending) rawLine {
	raw := rawLine{no: no, text: text}
	switch {
	case end == intake.TooLong:
		raw.err = bad("line is too long")
	case !utf8.Valid(text):
		raw.err = bad("not UTF-8")
	default:
		raw.err = raw.line.decode(text)
	}
	return raw
}

// take checks some lines and keeps those that are good.
func (im *importer) take(ctx context.Context, some []rawLine) error {
	if err := im.know(ctx, some); err != nil {
		return err
	}
	for i := range some {
		raw := &some[i]
		h := header{Line: raw.no}
		var c post.Content
		err := raw.err
		if err == nil {
			c, err = im.check(ctx, &h, &raw.line)
		}
		if why, ok := errors.AsType[bad](err); ok {
			if err := im.bad.Add(raw.no, string(why), raw.text); err != nil {
				return err
			}
			im.unread++
			continue
		}
		if err == nil {
			err = im.keep(ctx, &h, raw.text, &c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keep puts a good line where the next phases find it.
func (im *importer) keep(ctx context.Context, h *header, line []byte, c *post.Content) error {
	at, err := im.lines.add(h, line, c)
	if err == nil {
		err = im.keys.Add(ctx, spill.Record{Hi: h.Key.High, Lo: uint64(at), Val: h.Key.Low})
	}
	if err != nil || h.Kind == isPost {
		return err
	}
	return errors.Join(im.refs.Add(ctx, spill.Record{Hi: h.Ref.High, Lo: uint64(at), Val: h.Ref.Low}),
		im.timed.Add(ctx, spill.Record{Hi: uint64(h.Created), Lo: uint64(at)}))
}

// reject notes that a line which was kept cannot be used.
func (im *importer) reject(at int64, h *header, why string) error {
	h.State = isRejected
	text, err := im.lines.quote(at, h)
	if err == nil {
		err = im.lines.put(at, h)
	}
	if err != nil {
		return err
	}
	im.mu.Lock()
	defer im.mu.Unlock()
	return im.bad.Add(h.Line, why, text)
}

// orderKey orders ids of accounts and posts as primary keys do: by bucket, then id.
func orderKey(id uint64) uint64 { return uint64(repo.Bucket(id))<<53 | id>>repo.BucketBits }

// idOf returns the id that orderKey was made of.
func idOf(key uint64) uint64 { return key&(1<<53-1)<<repo.BucketBits | key>>53 }

// slot returns the id that a line has unless another post has it.
func (h *header) slot() uint64 {
	at := event.First(event.Epoch.Add(time.Duration(h.At) * time.Millisecond))
	return at | uint64(h.Key.Low)%sequences<<repo.BucketBits | uint64(repo.Bucket(h.Account))
}

// sequences is how many ids a bucket has in a millisecond.
const sequences = 1 << 12
