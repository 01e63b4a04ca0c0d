;;;; heap.lisp - the Lisp heap as it is, with a recording or without one: its objects,
;;;; and their keepers.

(in-package "MPROF")

(define-c-function %lisp-census ("mprof_lisp_census" :monitor) :pointer-void)
(define-c-function %lisp-keepers ("mprof_lisp_keepers" :monitor) :pointer-void)
(define-c-function %lisp-equal ("mprof_lisp_equal" :monitor) :pointer-void)
(define-c-function %lisp-way ("mprof_lisp_way" :monitor) :pointer-void
  (object :object))
(define-c-function %lisp-answer-free ("mprof_lisp_answer_free" :monitor) :void
  (text :pointer-void))

(defun split-line (line numbers)
  "LINE, so many NUMBERS and a name, as a list."
  (let ((start 0))
    (append (loop repeat numbers
                  collect (multiple-value-bind (number end)
                              (parse-integer line :start start :junk-allowed t)
                            (setf start (1+ end))
                            number))
            (list (subseq line start)))))

(defun answer-lines (pointer)
  "The lines of the answer at POINTER, which is freed."
  (when (si:null-pointer-p pointer)
    (error 'monitor-error :message "out of memory"))
  (unwind-protect
       (let* ((bytes (pointed-string pointer))
              (text (decode-utf-8 bytes 1)))
         (unless (char= (char bytes 0) #\0)
           (error 'monitor-error :message text))
         (with-input-from-string (stream text)
           (loop for line = (read-line stream nil)
                 while line collect line)))
    (%lisp-answer-free pointer)))

(defun percent (part whole)
  "PART of WHOLE in percent, as text."
  (format nil "~,1F" (if (zerop whole) 0 (/ (* 100.0d0 part) whole))))

(defun write-rows (rows bytes stream)
  "Write to STREAM the ROWS, lists of bytes, objects and a name, with their share of
BYTES."
  (loop for (part objects name) in rows
        do (format stream "~15:D ~6@A ~13:D  ~A~%" part (percent part bytes)
                   objects name)))

(defun write-some-rows (rows limit bytes objects others stream)
  "Write to STREAM the first LIMIT of ROWS, all for 0; a row for what these lack to BYTES
and OBJECTS; and a row of BYTES and OBJECTS.  OTHERS names what is lacking: a format for
the number of rows that are not written."
  (let* ((rest (and (plusp limit) (nthcdr limit rows)))
         (shown (ldiff rows rest))
         (other-objects (- objects (reduce #'+ shown :key #'second))))
    (write-rows shown bytes stream)
    (when (plusp other-objects)
      (write-rows (list (list (- bytes (reduce #'+ shown :key #'first)) other-objects
                              (format nil others (length rest))))
                  bytes stream))
    (write-rows (list (list bytes objects "in all")) bytes stream)))

;;; The types in the heap

(defun census-rows ()
  "A list of bytes, objects and name for each type in the heap, the most bytes first."
  (sort (loop for line in (answer-lines (%lisp-census))
              collect (split-line line 2))
        #'> :key #'first))

(defun census (&key (stream *standard-output*) (limit-rows 20))
  "Collect garbage, and print how many objects of each type and class are in the Lisp
heap, with the bytes that they and their storage take there.  No recording is needed.

STREAM      a stream, or T for *STANDARD-OUTPUT*; with NIL nothing is printed, and
            all rows are returned: lists of bytes, objects, and the name of the type
LIMIT-ROWS  print no more than so many rows; 0 for all"
  (check-stream stream)
  (check-rows limit-rows)
  (let ((rows (silently (census-rows))))
    (if (null stream)
        rows
        (silently
          (write-census rows (if (eq stream t) *standard-output* stream)
                        limit-rows)
          (values)))))

(defun write-census (rows stream limit)
  "Write the first LIMIT of ROWS to STREAM, and the sum of all."
  (with-standard-printing ()
    (format stream "~&~15@A ~6@A ~13@A  ~A~%" "bytes" "%" "objects" "type")
    (write-some-rows rows limit
                     (reduce #'+ rows :key #'first) (reduce #'+ rows :key #'second)
                     "~:D other types (:limit-rows 0 shows all)" stream))
  (finish-output stream))

;;; Equal contents

(defun equal-rows ()
  "A list of bytes, objects and contents for each content that several objects have, most
bytes first; and, as a list, bytes and objects that were compared, and of equal ones."
  (let ((lines (answer-lines (%lisp-equal))))
    (values (sort (loop for line in (rest lines)
                        collect (split-line line 2))
                  #'> :key #'first)
            (butlast (split-line (first lines) 4)))))

(defun equal-contents (&key (stream *standard-output*) (limit-rows 20))
  "Collect garbage, and print which strings and vectors of numbers in the Lisp heap have
the same contents, with the bytes of all of these except the first one.  No recording is
needed; the table :EQUAL of a recording with live objects shows who allocated them.

STREAM      a stream, or T for *STANDARD-OUTPUT*; with NIL nothing is printed, and
            all rows are returned: lists of bytes, objects, and contents
LIMIT-ROWS  print no more than so many rows; 0 for all.  Contents with less than a
            4096th of the equal bytes have no row

Objects without elements, arrays of several dimensions, and those with a fill pointer
before their end are left out."
  (check-stream stream)
  (check-rows limit-rows)
  (silently
    (multiple-value-bind (rows sums) (equal-rows)
      (when (null stream)
        (return-from equal-contents rows))
      (write-equal rows sums (if (eq stream t) *standard-output* stream) limit-rows)
      (values))))

(defun write-equal (rows sums stream limit)
  "Write the first LIMIT of ROWS to STREAM, and a sentence with SUMS."
  (destructuring-bind (bytes objects equal-bytes equal-objects) sums
    (with-standard-printing ()
      (format stream "~&~15@A ~6@A ~13@A  ~A~%" "bytes" "%" "copies" "contents")
      (write-some-rows rows limit equal-bytes equal-objects
                       "other contents~[~:; (:limit-rows 0 shows more)~]" stream)
      (format stream "These are equal to another one of the ~:D strings and vectors of ~
                      numbers, which~%have ~:D bytes.~%"
              objects bytes))
    (finish-output stream)))

;;; Keepers

(defstruct (keeper (:constructor make-keeper (number outer kind bytes objects name))
                   (:copier nil))
  "A step on the way from a root to what it keeps: its number, the number of the step
before it or 0, how it keeps, and the bytes and objects that would be gone without it."
  number outer kind bytes objects name)

(defun all-keepers ()
  "The KEEPERs of the heap."
  (loop for line in (answer-lines (%lisp-keepers))
        collect (apply #'make-keeper (split-line line 5))))

(defun keeper-rows (keepers share)
  "Rows of bytes, objects and an indented name for KEEPERS that keep at least SHARE, a
fraction of all bytes; and all bytes and all objects as further values."
  (let* ((inner (make-hash-table))
         (bytes 0)
         (objects 0)
         (rows '()))
    (dolist (keeper keepers)
      (push keeper (gethash (keeper-outer keeper) inner))
      (when (zerop (keeper-outer keeper))
        (incf bytes (keeper-bytes keeper))
        (incf objects (keeper-objects keeper))))
    (labels ((visit (outer depth)
               (dolist (keeper (sort (gethash outer inner) #'>
                                     :key #'keeper-bytes))
                 (when (>= (keeper-bytes keeper) (* share bytes))
                   (push (list (keeper-bytes keeper) (keeper-objects keeper)
                               (format nil "~A~A"
                                       (make-string (* 2 depth)
                                                    :initial-element #\Space)
                                       (keeper-name keeper)))
                         rows)
                   (visit (keeper-number keeper) (1+ depth))))))
      (visit 0 0))
    (values (nreverse rows) bytes objects)))

(defun write-keepers (stream share)
  "Write to STREAM what keeps SHARE or more of the heap."
  (multiple-value-bind (rows bytes objects) (keeper-rows (all-keepers) share)
    (with-standard-printing ()
      (format stream "~&~15@A ~6@A ~13@A  ~A~%" "bytes" "%" "objects"
              "kept by, and by it")
      (write-rows rows bytes stream)
      (write-rows (list (list bytes objects "in all")) bytes stream)
      (format stream "Each number is what would be garbage without this step.~%~
                      Words on a stack may be old: objects that only they lead ~
                      to may be garbage.~%"))
    (finish-output stream)))

(defun way-of (object)
  "The lines of what keeps OBJECT."
  (let ((lines (answer-lines (%lisp-way object))))
    (and lines
         (cons (split-line (first lines) 3)
               (loop for line in (rest lines)
                     collect (split-line line 1))))))

(defun other-roots (steps)
  "The names of a few roots in STEPS, without the first step."
  (let ((names (remove (second (first steps))
                       (remove-duplicates
                        (mapcar #'second (remove 0 steps :key #'first :test #'/=))
                        :test #'string= :from-end t)
                       :test #'string=)))
    (subseq names 0 (min 4 (length names)))))

(defun write-way (object stream)
  "Write to STREAM what keeps OBJECT."
  (destructuring-bind (&optional first &rest steps) (way-of object)
    (with-standard-printing ()
      (cond ((null first)
             (format stream "That is no object in the heap, but a number, a ~
                             character or a part of ECL itself.~%"))
            (t
             (fresh-line stream)
             (loop for (times name) in (remove 0 steps :key #'first)
                   for start = "" then "  > "
                   do (format stream "~A~A~@[ (~:D times)~]~%" start name
                              (and (> times 1) times)))
             (destructuring-bind (bytes objects how &rest ignore) first
               (declare (ignore ignore))
               (format stream "~[Other roots keep it, too~@[, such as ~{~A~^; ~}~].~
                               ~;~*Nothing else keeps it.~
                               ~;Only words on stacks lead to it, which may be old~
                               ~@[; also ~{~A~^; ~}~].~]  ~
                               With what it ~:[keeps~;leads to~] itself: ~
                               ~:D bytes in ~:D object~:P.~%"
                       how
                       (other-roots steps)
                       (= how 2) bytes objects)))))
    (finish-output stream)))

(defun kept-by (&key (stream *standard-output*) (share 1/100))
  "Collect garbage, and print what keeps the most of the Lisp heap alive: bytes and
objects that would be garbage without the value of a symbol, and so on inwards.  No
recording is needed.

STREAM  a stream, or T for *STANDARD-OUTPUT*
SHARE   only what keeps this fraction of the heap or more"
  (check-printing stream)
  (unless (typep share '(real 0 1))
    (invalid-argument "~S is no value for :share, which is a fraction from 0 to 1"
                      share))
  (silently
    (write-keepers (if (eq stream t) *standard-output* stream) share))
  (values))

(defun who-keeps (&optional (object nil object-p) (stream *standard-output*))
  "Collect garbage, and print to STREAM what keeps OBJECT alive: a shortest way to it
from the value of a symbol, a stack or whatever is alive by itself.  Without OBJECT do
what KEPT-BY does.  No recording is needed."
  (check-printing stream)
  (if object-p
      (silently (write-way object (if (eq stream t) *standard-output* stream)))
      (kept-by :stream stream))
  (values))

(defun check-printing (stream)
  "Signal an error unless STREAM can be printed to."
  (check-stream stream)
  (unless stream
    (invalid-argument "~S is no stream to print to" stream)))
