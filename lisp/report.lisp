;;;; report.lisp - the tables, as text.

(in-package "MPROF")

(defparameter *tables*
  '(:bins :leaks :direct :graph :peak :temporary :paths :tree)
  "The tables that there are.")

(defparameter *usual-tables* '(:bins :leaks :direct :graph)
  "Those that are printed when nobody asks for others.")

(defun check-tables (tables)
  "TABLES (T, NIL, a name or a list of names) as a list of names."
  (let ((list (cond ((eq tables t) *usual-tables*)
                    ((listp tables) tables)
                    (t (list tables)))))
    (dolist (table list list)
      (unless (member table *tables*)
        (invalid-argument "~S is not a table; there are ~{~(~S~)~^, ~}"
                          table *tables*)))))

(defun temporary-file ()
  "The name of a new, empty file in the folder for temporary files."
  (let ((stem (concatenate 'string
                           (string-right-trim
                            "/" (or (environment-value "TMPDIR") "/tmp"))
                           "/mprof-")))
    (let ((file (ignore-errors (ext:mkstemp stem))))
      (unless file
        (error 'data-file-error :pathname stem :action "create"
                                :reason "no temporary file can be made there"))
      (namestring file))))

(defun call-with-current-data (function)
  "Call FUNCTION with the name of a data file of what is recorded now.  The
file is deleted afterwards.  Recording may be running."
  (let ((file (temporary-file)))
    (unwind-protect
         (progn (%save file)
                (funcall function file))
      (when (probe-file file)
        (delete-file file)))))

(defun part-arguments (focus ignore only limit-rows)
  "The arguments of the mprof command for a part of the chains or rows."
  (loop for (name value) in (list (list "focus" focus) (list "ignore" ignore)
                                  (list "only" only)
                                  (list "limit-rows" limit-rows))
        when value
          collect (progn
                    (when (or (equal value "") (find #\Newline (string-of value)))
                      (invalid-argument "~S is no value for :~A" value name))
                    (format nil "--~A=~A" name value))))

(defun string-of (value)
  "VALUE, a string or what is printed."
  (if (stringp value) value (princ-to-string value)))

(defun report-arguments (file format tables verbosity threads all-frames part)
  "The arguments of the mprof command that print what the caller asks for."
  (unless (member format '(:text :html))
    (invalid-argument "~S is not a format; there are :text and :html" format))
  (unless (member verbosity '(:verbose :normal :terse))
    (invalid-argument "~S is not a verbosity; there are :verbose, :normal ~
                       and :terse" verbosity))
  (check-tables tables)
  (append (if (eq format :html)
              (list "html")
              (list (format nil "--~(~A~)" verbosity)))
          ;; Lisp has no leak table; asking for all asks for all that there are.
          (unless (or (eq tables t) (eq format :html))
            (list (format nil "--table=~{~(~A~)~^,~}" (check-tables tables))))
          (and threads (eq format :text) '("--threads"))
          (and all-frames '("--all-frames"))
          (and (eq format :text) part)
          (list file)))

(defun report-text (file &key (format :text) (tables t) (verbosity :normal)
                           threads all-frames part)
  "The tables of the data file FILE, or a page, as a string."
  (%report (report-arguments file format tables verbosity threads all-frames
                             part)))

(defun report (&key (tables t) (verbosity :normal) (stream *standard-output*)
                 threads all-frames (format :text) focus ignore only
                 limit-rows)
  "Print tables of what has been recorded so far.  Recording may be running, in
this thread or in others, and goes on.

TABLES      T (the first four), or one or a list of :BINS, :LEAKS, :DIRECT,
            :GRAPH, :PEAK, :TEMPORARY, :PATHS and :TREE; the C heap alone has
            leaks, a peak and temporary objects
VERBOSITY   :VERBOSE, :NORMAL or :TERSE
STREAM      a stream, or T for *STANDARD-OUTPUT*; NIL returns a string
THREADS     true: one set of tables for each thread
ALL-FRAMES  true: show the functions of the Lisp system's plumbing, too
FOCUS, IGNORE  regular expressions: only chains with a function like this, or
            without one
ONLY        the same: only functions of packages or files like this; what
            others allocate is their callers'
LIMIT-ROWS  no more than so many rows of a table
FORMAT      :HTML makes a page for a browser, with all tables and threads

Signals a NOTHING-RECORDED-ERROR before the first START."
  (let ((text (call-with-current-data
               (lambda (file)
                 (report-text file :format format :tables tables
                                   :verbosity verbosity :threads threads
                                   :all-frames all-frames
                                   :part (part-arguments focus ignore only
                                                         limit-rows))))))
    (cond ((null stream) text)
          (t
           (let ((stream (if (eq stream t) *standard-output* stream)))
             (write-string text stream)
             (finish-output stream)
             (values))))))
