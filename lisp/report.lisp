;;;; report.lisp - the tables, as text.

(in-package "MPROF")

(defparameter *tables*
  '(:bins :leaks :direct :graph :peak :temporary :paths :tree :types :alive
    :kept-by :equal)
  "The tables that there are.")

(defparameter *usual-tables* '(:bins :leaks :direct :graph)
  "The tables that are printed by default.")

(defun proper-list-p (object)
  "True when OBJECT is a list that ends in NIL."
  (and (listp object) (ignore-errors (list-length object)) t))

(defun check-tables (tables)
  "TABLES (T, NIL, a name or a list of names) as a list of names."
  (let ((list (cond ((eq tables t) *usual-tables*)
                    ((proper-list-p tables) tables)
                    (t (list tables)))))
    (dolist (table list list)
      (unless (member table *tables*)
        (invalid-argument "~S is not a table; there are ~{~(~S~)~^, ~}"
                          table *tables*)))))

(defun needs-look-p (tables)
  "True when a table of TABLES needs a look at all live objects."
  (intersection '(:kept-by :equal) (check-tables tables)))

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

(defun call-with-temporary-file (function)
  "Call FUNCTION with the name of a new file, which is deleted afterwards."
  (let ((file (temporary-file)))
    (unwind-protect (funcall function file)
      (when (probe-file file)
        (delete-file file)))))

(defun call-silently (function)
  "Call FUNCTION without arguments.  Allocations of this thread meanwhile are mprof's
own, and are not recorded."
  (unwind-protect
       (progn
         (%mprof-silence 1)
         (funcall function))
    (%mprof-silence 0)))

(defmacro silently (&body body)
  "Evaluate BODY, and do not record what it allocates."
  `(call-silently (lambda () ,@body)))

(defun call-with-current-data (function)
  "Call FUNCTION with the name of a data file of what is recorded now.  The
file is deleted afterwards.  Recording may be running."
  (silently
    (call-with-temporary-file (lambda (file)
                                (%save file)
                                (funcall function file)))))

(defun part-arguments (focus ignore only type limit-rows &optional depth)
  "The arguments of the mprof command for a part of the chains or rows."
  (unless (typep depth '(or null (integer 0)))
    (invalid-argument "~S is not a number of functions" depth))
  (with-standard-printing ()
    (append (and depth (list (format nil "--depth=~D" depth)))
            (%part-arguments focus ignore only type limit-rows))))

(defun %part-arguments (focus ignore only type limit-rows)
  "The same, printed as the user's variables say."
  (when limit-rows
    (check-rows limit-rows))
  (loop for (name value) in `((focus ,focus) (ignore ,ignore) (only ,only))
        unless (typep value '(or string symbol))
          do (invalid-argument "~S is no value for :~(~A~)" value name))
  (unless (and (or (atom type) (proper-list-p type))
               (every (lambda (name) (typep name '(or string symbol)))
                      (if (listp type) type (list type))))
    (invalid-argument "~S is no value for :type" type))
  (loop for (name value) in (list (list "focus" focus) (list "ignore" ignore)
                                  (list "only" only)
                                  (list "type" (comma-list type))
                                  (list "limit-rows" limit-rows))
        when value
          collect (progn
                    (when (or (equal value "") (find #\Newline (string-of value)))
                      (invalid-argument "~S is no value for :~A" value name))
                    (format nil "--~A=~A" name value))))

(defun comma-list (value)
  "VALUE, of a list its elements with commas between."
  (if (listp value) (and value (format nil "~{~A~^,~}" value)) value))

(defun string-of (value)
  "VALUE, a string or what is printed."
  (if (stringp value) value (princ-to-string value)))

(defun report-arguments (file format tables verbosity threads all-frames part)
  "The arguments of the mprof command that print what the caller asks for."
  (unless (member format '(:text :html))
    (invalid-argument "~S is not a format; there are :text and :html" format))
  (unless (member verbosity '(nil :verbose :normal :terse))
    (invalid-argument "~S is not a verbosity; there are :verbose, :normal ~
                       and :terse" verbosity))
  (unless (check-tables tables)
    (invalid-argument "no table is named; there are ~{~(~S~)~^, ~}" *tables*))
  (with-standard-printing ()
    (append (cond ((eq format :html) (list "html"))
                  (verbosity (list (format nil "--~(~A~)" verbosity))))
            ;; Lisp has no leak table; asking for all asks for all that there are.
            (unless (or (eq tables t) (eq format :html))
              (list (format nil "--table=~{~(~A~)~^,~}" (check-tables tables))))
            (and threads (eq format :text) '("--threads"))
            (and all-frames '("--all-frames"))
            (and (eq format :text) part)
            (list file))))

(defparameter *short-rows* 10
  "The rows of a table on a terminal, unless the caller asks for others.")

(defun short-part (part)
  "PART, as of PART-ARGUMENTS, with no more than *SHORT-ROWS* rows."
  (append part (part-arguments nil nil nil nil *short-rows*)))

(defun short-end (how)
  "Return the last line of short tables; HOW says how to see all rows."
  (format nil "~%All rows: ~A~%" how))

(defparameter *option-names*
  '((" (--limit-rows=0 --verbose shows" . " (:limit-rows 0 :verbosity :verbose shows")
    (" (--verbose shows" . " (:verbosity :verbose shows")
    ("(--table=kept-by)" . "(:tables :kept-by)")
    ("(--table=equal)" . "(:tables :equal)")
    (" more (--verbose)" . " more (:verbosity :verbose)")
    ("--type=TYPE with --table=graph, paths or tree shows"
     . ":type with :tables :graph, :paths or :tree shows"))
  "Options of the mprof command in sentences, and the options of REPORT for them.")

(defun with-option-names (text)
  "Return TEXT, tables, with the options of REPORT in its sentences."
  (loop for (shell . lisp) in *option-names*
        do (setf text
                 (with-output-to-string (stream)
                   (loop for start = 0 then (+ at (length shell))
                         for at = (search shell text :start2 start)
                         do (write-string text stream :start start :end at)
                         while at
                         do (write-string lisp stream)))))
  text)

(defun report-text (file &key (format :text) (tables t) verbosity threads
                           all-frames part)
  "Return the tables of the data file FILE, or a page, as a string."
  (%report (report-arguments file format tables verbosity threads all-frames
                             part)))

(defun write-report (text stream format)
  "Write TEXT, in FORMAT, to STREAM, or to *STANDARD-OUTPUT* for T; for NIL return it."
  (when (eq format :text)
    (setf text (silently (with-option-names text))))
  (cond ((null stream) text)
        (t
         (let ((stream (if (eq stream t) *standard-output* stream)))
           (write-string text stream)
           (finish-output stream)
           (values)))))

(defun report (&key (tables t) verbosity (stream *standard-output*)
                 threads all-frames (format :text) focus ignore only
                 type (limit-rows nil limit-rows-p) depth)
  "Print what has been recorded so far: a summary and short tables, or those that
are asked for.  Recording may be running, in this thread or in others, and goes on.

TABLES      T (the first four), or one or a list of :BINS, :LEAKS, :DIRECT,
            :GRAPH, :PEAK, :TEMPORARY, :PATHS, :TREE, :TYPES, :ALIVE, :KEPT-BY
            and :EQUAL; only the C heap has leaks, a peak and temporary objects,
            only Lisp has types and live objects, if these are recorded
VERBOSITY   :VERBOSE prints all rows, :NORMAL rows of 0.5 % and more, :TERSE rows
            of 1 %; NIL, the default, a summary and short tables if TABLES is T
STREAM      a stream, or T for *STANDARD-OUTPUT*; NIL returns a string
THREADS     true: one set of tables for each thread
ALL-FRAMES  true: show the functions of the Lisp system's plumbing, too
FOCUS, IGNORE  regular expressions: only chains with a function like this, or
            without one
ONLY        a regular expression: only functions of packages or files like this;
            others are charged to their callers
TYPE        the name of a type, such as hash-table, or of a class, or a list
            of such names: only objects of these types
LIMIT-ROWS  no more than so many rows of a table; 0 for all.  On a terminal there
            are ten of a table that is named, unless this or VERBOSITY is given
DEPTH       functions of a chain, in tables that show chains; 0 for all
FORMAT      :HTML makes a page for a browser, with all tables and threads

Signals a NOTHING-RECORDED-ERROR before the first START."
  (check-stream stream)
  (when (and (needs-look-p tables) (running-p))
    ;; An earlier answer is no longer true.
    (silently (ignore-errors (%look 0 #xffffffff))))
  (let* ((short (and stream (eq format :text)
                     (not (or verbosity limit-rows-p (eq tables t)))
                     (terminal-p (if (eq stream t) *standard-output* stream))))
         (part (silently (part-arguments focus ignore only type limit-rows
                                         depth)))
         (text (call-with-current-data
                (lambda (file)
                  (report-text file :format format :tables tables
                                    :verbosity verbosity :threads threads
                                    :all-frames all-frames
                                    :part (cons "--from-lisp"
                                                (if short
                                                    (short-part part)
                                                    part)))))))
    (write-report (if short
                      (concatenate 'string text
                                   (short-end
                                    "(mprof:report :verbosity :verbose)"))
                      text)
                  stream format)))

(defun diff (old &optional new
             &key (by :function) (sort :total) (stream *standard-output*)
               all-frames (format :text) focus ignore only limit-rows)
  "Print what grew and what shrank from the data file OLD, as SAVE makes them, to
the data file NEW, or, if that is NIL, to what has been recorded so far.

BY          :FUNCTION, :CHAIN, :TYPE or :LINE
SORT        :BYTES, :ALLOCS, :SELF, :TOTAL, :KEPT or :PEAK, where a table has it
FORMAT      :HTML makes a page for a browser

STREAM, ALL-FRAMES, FOCUS, IGNORE, ONLY and LIMIT-ROWS as in REPORT."
  (check-stream stream)
  (unless (member sort '(:bytes :allocs :self :total :kept :peak))
    (invalid-argument "~S is none of :bytes, :allocs, :self, :total, :kept and ~
                       :peak" sort))
  (unless (member by '(:function :chain :type :line))
    (invalid-argument "~S is none of :function, :chain, :type and :line" by))
  (unless (member format '(:text :html))
    (invalid-argument "~S is not a format; there are :text and :html" format))
  (let ((arguments (with-standard-printing ()
                     `("diff"
                       ,(format nil "--by=~(~A~)" by)
                       ,(format nil "--sort=~(~A~)" sort)
                       ,(format nil "--format=~(~A~)" format)
                       ,@(and all-frames '("--all-frames"))
                       ,@(part-arguments focus ignore only nil limit-rows)
                       "--" ,(required-file old)))))
    (flet ((text (file)
             (%report (append arguments (list file)))))
      (write-report (if new
                        (text (file-string new))
                        (call-with-current-data #'text))
                    stream format))))
