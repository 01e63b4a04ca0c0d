;;;; escapes.lisp - what the calls of a function leave behind: the objects that they
;;;; allocate and that are still live when they return.

(in-package "MPROF")

(defparameter *most-calls* 250
  "Each watched call begins an epoch of the recording, which has no more than 254.")

(defstruct (watch (:constructor make-watch (symbol name focus most))
                  (:copier nil))
  "Calls of one function that are watched: its name, as a symbol or list and as text, the
option that selects its chains, and how many are wanted."
  symbol name focus most
  (begun 0)                              ; calls
  (calls 0)                              ; that returned
  (epoch 0)                              ; for the next call
  (arguments '())                        ; of the present call
  (conses 0)                             ; in such lists
  (thread (current-thread) :read-only t) ; whose calls are watched
  (rows (make-hash-table :test #'equal)))

(defstruct (escape-row (:constructor make-escape-row (type chain)) (:copier nil))
  "Blocks of one type and one chain, and how many calls left some of them behind."
  type chain (bytes 0) (blocks 0) (live-bytes 0) (live-blocks 0) (calls 0))

(defun quoted-for-regex (name)
  "A regular expression that matches only NAME."
  (with-output-to-string (stream)
    (write-char #\^ stream)
    (loop for char across name
          do (when (find char "\\^$.[]|()*+?{}")
               (write-char #\\ stream))
             (write-char char stream))
    (write-char #\$ stream)))

;;; By type and chain

(defun chain-below (name functions)
  "FUNCTIONS, innermost first, as far as the watched call of NAME.  Its caller, MAKE-WATCHED's
function, has this name, too."
  (let* ((end (position name functions :test #'string= :from-end t))
         (inner (and end (plusp end)
                     (position name functions :test #'string= :from-end t :end end))))
    (cond ((eql inner (and end (1- end))) (subseq functions 0 end))
          (end (subseq functions 0 (1+ end)))
          (t functions))))

(defun own-conses (watch type functions conses)
  "CONSES, the length of our lists of arguments, if blocks of TYPE contain these lists; else
0.  FUNCTIONS are the names of a whole chain."
  (if (and (string= type "cons")
           (eql 0 (position (watch-name watch) functions :test #'string= :from-end t)))
      conses
      0))

(defun each-row (watch file options conses function)
  "Call FUNCTION with each row of WATCH that has blocks in the data file FILE, with the
bytes and the number of these; without CONSES of our lists of arguments."
  (flet ((chains (&rest more)
           (handler-case (read-chains file t (list* (watch-focus watch)
                                                    (append more options)))
             ;; No chain has the function.
             (report-error () '())))
         (see (type chain)
           (let* ((functions (chain-functions chain))
                  (own (own-conses watch type functions conses))
                  (blocks (- (chain-allocs chain) own)))
             (when (plusp blocks)
               (funcall function
                        (row-of watch type (chain-below (watch-name watch) functions))
                        (- (chain-bytes chain) (* 16 own)) blocks)))))
    (when (chains)
      (dolist (bin (profile-bins (profile-from-file file nil nil nil options)))
        (let ((type (or (bin-name bin) (bin-type bin))))
          (dolist (chain (chains (format nil "--type=~A" type)))
            (see type chain)))))))

(defun row-of (watch type chain)
  "The row of WATCH for TYPE and CHAIN."
  (let ((key (cons type chain))
        (rows (watch-rows watch)))
    (or (gethash key rows)
        (setf (gethash key rows) (make-escape-row type chain)))))

(defun add-live-rows (watch from until)
  "Add the live blocks of the epochs FROM to UNTIL, a call, to the rows of WATCH."
  (let ((seen '()))
    (call-with-temporary-file
     (lambda (file)
       (%save-alive file from until)
       (each-row watch file '("--alive") (length (watch-arguments watch))
                 (lambda (row bytes blocks)
                   (incf (escape-row-live-bytes row) bytes)
                   (incf (escape-row-live-blocks row) blocks)
                   (pushnew row seen)))))
    (dolist (row seen)
      (incf (escape-row-calls row)))))

(defun add-allocated-rows (watch)
  "Add all that was recorded to the rows of WATCH."
  (call-with-current-data
   (lambda (file)
     (each-row watch file '() (watch-conses watch)
               (lambda (row bytes blocks)
                 (incf (escape-row-bytes row) bytes)
                 (incf (escape-row-blocks row) blocks))))))

;;; Calls

(defun see-what-is-live (watch)
  "A call of WATCH's function has returned: count what is live of what it allocated."
  (ext:gc t)
  (let ((until (%snapshot)))
    (add-live-rows watch (watch-epoch watch) until)
    (setf (watch-epoch watch) until))
  (incf (watch-calls watch))
  (when (= (watch-calls watch) (watch-most watch))
    (end-to-record)))

(defun define-function (name function)
  "Let NAME be the name of FUNCTION, even in a locked package."
  (let ((si::*ignore-package-locks* t))
    (setf (fdefinition name) function)))

(defun make-watched (watch original)
  "A function that calls ORIGINAL, and watches outermost calls in WATCH's thread until
there have been enough.  It allocates only its list of arguments while that is recorded."
  (let ((silence (resolve '%mprof-silence))
        (begin (list 1))
        (end (list 0))
        (symbol (watch-symbol watch))
        (self nil))
    (flet ((silence (how)
             (mp:without-interrupts
               (si:call-cfun silence :void '(:int) how))))
      (setf self
            (lambda (&rest arguments)
              (if (or (not (eq (current-thread) (watch-thread watch)))
                      (>= (watch-calls watch) (watch-most watch)))
                  (apply original arguments)
                  (unwind-protect
                       (progn
                         (silence begin)
                         ;; Calls within this one are not watched.
                         (define-function symbol original)
                         (incf (watch-begun watch))
                         (setf (watch-arguments watch) arguments)
                         (incf (watch-conses watch) (length arguments))
                         (silence end)
                         (multiple-value-prog1 (call-apart original arguments)
                           (silence begin)
                           (see-what-is-live watch)))
                    (define-function symbol self)
                    (silence end))))))))

(defun call-with-watch (watch during)
  "Call DURING while WATCH's function is watched."
  (let* ((symbol (watch-symbol watch))
         (original (fdefinition symbol)))
    (unwind-protect
         (progn
           (define-function symbol (make-watched watch original))
           (funcall during))
      (define-function symbol original))))

;;; The report

(defun sorted-escapes (watch)
  "The rows of WATCH, those that were allocated most first."
  (sort (loop for row being the hash-values of (watch-rows watch) collect row)
        (lambda (a b)
          (or (> (escape-row-bytes a) (escape-row-bytes b))
              (and (= (escape-row-bytes a) (escape-row-bytes b))
                   (string< (princ-to-string (escape-row-chain a))
                            (princ-to-string (escape-row-chain b))))))))

(defun escape-row-name (row)
  "The type of ROW and its chain, as text.  A long chain is shortened."
  (let* ((chain (escape-row-chain row))
         (end (last chain 2)))
    (format nil "~A by ~{~A~^ < ~}" (escape-row-type row)
            (if (nthcdr 5 chain)
                (append (subseq chain 0 2) (cons "..." end))
                chain))))

(defun sum-of (key rows)
  "The sum of KEY of all ROWS."
  (reduce #'+ rows :key key))

(defun write-escape-row (stream rows calls name)
  "Write a line with the sums of ROWS; CALLS: how many calls left some behind, or NIL."
  (format stream "~14:D ~12:D ~14:D ~12:D ~6@A  ~A~%"
          (sum-of #'escape-row-bytes rows) (sum-of #'escape-row-blocks rows)
          (sum-of #'escape-row-live-bytes rows)
          (sum-of #'escape-row-live-blocks rows)
          (or calls "") name))

(defun write-escapes (watch stream limit)
  "Write to STREAM what the calls of WATCH allocated and left behind, LIMIT rows."
  (with-standard-printing ()
    (if (zerop (watch-calls watch))
        (format stream "No call of ~A ~:[was seen.  Calls within one compiled file do not ~
                        use the name:~%declare it NOTINLINE there, or load the ~
                        source.~;returned.~]~%"
                (watch-name watch) (plusp (watch-begun watch)))
        (write-escape-table watch stream limit)))
  (finish-output stream))

(defun write-escape-table (watch stream limit)
  "Write the table of WATCH, LIMIT rows, and sentences about it."
  (let* ((rows (sorted-escapes watch))
         (rest (and (plusp limit) (nthcdr limit rows))))
    (format stream "~A: ~:D call~:P, and a collection after each~2%~
                    ~14@A ~12@A ~14@A~%~14@A ~12@A ~14@A ~12@A ~6@A  ~A~%"
            (watch-name watch) (watch-calls watch) "allocated" "" "live at return"
            "bytes" "blocks" "bytes" "blocks" "calls" "type, and who allocated it")
    (dolist (row (ldiff rows rest))
      (write-escape-row stream (list row) (escape-row-calls row)
                        (escape-row-name row)))
    (when rest
      (write-escape-row stream rest nil
                        (format nil "~:D other row~:P (:limit-rows 0 shows all)"
                                (length rest))))
    (write-escape-row stream rows nil "in all")
    (terpri stream)
    (write-verdict stream rows)
    (when (> (watch-begun watch) (watch-calls watch))
      (format stream "~:D call~:P more did not return: ~:*~[~;its~:;their~] blocks count ~
                      as allocated.~%"
              (- (watch-begun watch) (watch-calls watch))))))

(defun write-verdict (stream rows)
  "Write to STREAM what the numbers in ROWS mean."
  (let* ((dead (remove 0 rows :key #'escape-row-live-blocks :test #'/=))
         (bytes (sum-of #'escape-row-bytes dead)))
    (cond ((null rows)
           (format stream "The calls allocated nothing.~%"))
          (dead
           (format stream "~:D of these bytes (~A %), in ~:D block~:P, are in rows with ~
                           0 calls: none of these~%blocks was live after a call.  They ~
                           may have dynamic extent, or be one buffer~%that is used ~
                           again.~%"
                   bytes (percent bytes (sum-of #'escape-row-bytes rows))
                   (sum-of #'escape-row-blocks dead)))
          (t
           (format stream "Some blocks of each row were live after a call.~%")))
    (format stream "This is true of these calls, not of all that are possible.  Values ~
                    that a call~%returned count as live.~%")))

(defun escape-list (watch)
  "The rows of WATCH as lists."
  (loop for row in (sorted-escapes watch)
        collect (list (escape-row-type row) (escape-row-chain row)
                      (escape-row-bytes row) (escape-row-blocks row)
                      (escape-row-live-bytes row) (escape-row-live-blocks row)
                      (escape-row-calls row))))

(defun check-watched (name calls during arguments limit-rows)
  "Signal an error unless these are arguments of ESCAPES."
  (unless (and (or (symbolp name) (and (proper-list-p name) (cdr name)))
               (ignore-errors (fboundp name))
               (not (and (symbolp name)
                         (or (macro-function name) (special-operator-p name)))))
    (invalid-argument "~S is not the name of a function" name))
  (unless (typep calls `(integer 1 ,*most-calls*))
    (invalid-argument "~S is no number of calls from 1 to ~D" calls *most-calls*))
  (unless (proper-list-p arguments)
    (invalid-argument "~S is not a list of arguments" arguments))
  (unless (typep limit-rows '(integer 0))
    (invalid-argument "~S is not a number of rows" limit-rows))
  (when during
    (check-function during)
    (when arguments
      (invalid-argument "with :during, the program calls ~S with its own arguments" name)))
  (when (running-p)
    (error 'already-running-error)))

(defun escapes (name &key (calls 10) arguments during (stream *standard-output*)
                       (limit-rows 20))
  "Watch CALLS calls of the function NAME, with a garbage collection after each, and print
how much of what they allocated is still live then, by type and chain.  For example,
\"0 of 12,000 conses\" are candidates for dynamic extent or for a buffer.

    (mprof:escapes 'render :arguments '(10) :calls 100)      calls RENDER itself
    (mprof:escapes 'render :during (lambda () (run-tests)))  watches the program's calls

NAME        a symbol or a list such as (SETF FOO)
CALLS       how many calls, 250 at most; with DURING fewer are seen if the program makes
            fewer
ARGUMENTS   a list: call the function with these, if DURING is NIL
DURING      a function without arguments, which is called once.  Calls of NAME in this
            thread are watched; calls within such a call are a part of it
STREAM      a stream, or T for *STANDARD-OUTPUT*; with NIL nothing is printed, and rows
            are returned: lists of type, chain (a list of names), bytes and blocks
            allocated, bytes and blocks live at a return, calls that left some behind
LIMIT-ROWS  no more than so many rows; 0 for all

A block is an object or storage that it owns.  Like WITH-PROFILING, this forgets an
earlier recording.  Signals an ALREADY-RUNNING-ERROR while a recording runs."
  (check-stream stream)
  (check-watched name calls during arguments limit-rows)
  (let* ((text (with-standard-printing () (printed-name name)))
         (watch (make-watch name text
                            (format nil "--focus=~A" (quoted-for-regex text)) calls)))
    (watch-recording watch (or during
                               (lambda ()
                                 (loop repeat calls
                                       do (apply (fdefinition name) arguments)))))
    (silently
      (add-allocated-rows watch)
      (if stream
          (let ((stream (if (eq stream t) *standard-output* stream)))
            (write-escapes watch stream limit-rows)
            (values))
          (escape-list watch)))))

(defun watch-recording (watch run)
  "Call RUN while its calls of WATCH's function are recorded and watched."
  (%reset)
  (%choose-heaps nil)
  (%choose-live t nil nil)
  (begin-to-record nil)
  (unwind-protect
       (progn
         (setf (watch-epoch watch) (%snapshot))
         (call-with-watch watch run))
    (end-to-record)))
