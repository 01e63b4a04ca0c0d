;;;; swank.lisp - a profile in SLIME's browser for profiles.
;;;;
;;;; A module of its own, for a Lisp that has SWANK, the part of SLIME within Lisp:
;;;;
;;;;     (require :mprof-swank)
;;;;
;;;; SLIME's contrib slime-sprof calls six functions that SWANK has for SBCL alone.
;;;; Here they are for a profile of allocations: what the browser calls samples are
;;;; bytes.  Emacs names a function by the number of its row.

(in-package "MPROF")

(defstruct (browsed (:constructor make-browsed (profile rows)))
  "What the browser shows."
  profile                 ; a PROFILE
  rows)                   ; its functions, a vector; the first is row 1

(defvar *browsed* nil
  "What the browser got last, a BROWSED, or NIL.")

(defparameter *stale* "this list is out of date: M-x slime-sprof-report"
  "What Emacs is told of a row that there is not.")

;;; SWANK, which need not have been there when this was compiled

(defun call-swank (package name &rest arguments)
  "Call the function NAME in PACKAGE, one of SWANK's, both strings."
  (apply (find-symbol name package) arguments))

(defun tell-emacs (message)
  "Show MESSAGE, a line, in Emacs' echo area.  Returns NIL."
  (call-swank "SWANK" "BACKGROUND-MESSAGE" "mprof: ~A" message)
  nil)

;;; Rows

(defun percentage (bytes profile)
  "BYTES in percent of those of PROFILE, to the two digits that the browser shows; a
float that Emacs can read."
  (let ((all (profile-bytes profile)))
    (if (zerop all)
        0f0
        (coerce (/ (round (* 10000 bytes) all) 100) 'single-float))))

(defun row-name (function)
  "The name of FUNCTION, a PROFILE-FUNCTION, for a row."
  (substitute-if-not #\? #'graphic-char-p (function-name function)))

(defun wide-name (name bytes)
  "NAME and, as far as the row has room for them, BYTES at its end."
  (loop for control in '("~:D byte~:P" "~:D")
        for text = (format nil control bytes)
        for room = (- 59 (length text))
        when (< (length name) room)
          return (format nil "~VA~A" room name text)
        finally (return name)))

(defun swank-function-p (function)
  "True when the name of FUNCTION, a PROFILE-FUNCTION, has a package or a file of
SWANK in it: it is one of SLIME's, or local to one, or a method for it."
  (let ((name (function-name function)))
    (loop for start = (search "SWANK" name :test #'char-equal)
            then (search "SWANK" name :test #'char-equal
                                       :start2 (1+ start))
          while start
          thereis (let ((end (+ start (length "SWANK"))))
                    (and (or (zerop start)
                             (find (char name (1- start)) " ("))
                         (< end (length name))
                         (find (char name end) ":/.-"))))))

(defun row-function (row)
  "The PROFILE-FUNCTION in ROW of what is browsed, or NIL."
  (let ((rows (if *browsed* (browsed-rows *browsed*) #())))
    (and (integerp row)
         (<= 1 row (length rows))
         (aref rows (1- row)))))

(defun function-row (function)
  "The row of FUNCTION, or NIL when it has none."
  (let ((place (position function (browsed-rows *browsed*))))
    (and place (1+ place))))

;;; The list of functions

(defun first-row (profile)
  "What all percentages are of; no function."
  `(nil ,(format nil "All: ~:D byte~:P in ~:D allocation~:P"
                 (profile-bytes profile) (profile-allocs profile))
        ,(percentage (profile-bytes profile) profile) nil nil))

(defun function-rows (functions profile)
  "The rows of FUNCTIONS: number, name, what it allocated itself, what was
allocated while it was on the stack, and the third column summed up so far."
  (loop with sum = 0
        for row from 1
        for function in functions
        for self = (function-self-bytes function)
        collect (list row (row-name function)
                      (percentage self profile)
                      (percentage (function-total-bytes function) profile)
                      (percentage (incf sum self) profile))))

(defun last-rows (functions profile)
  "A row for what none of FUNCTIONS allocated itself, if there is any."
  (let ((rest (- (profile-bytes profile)
                 (reduce #'+ functions :key #'function-self-bytes))))
    (and (plusp rest)
         `((nil "Elsewhere" ,(percentage rest profile) nil nil)))))

(defun browser-call-graph (&key exclude-swank)
  "The rows of the functions of what has been recorded so far, those first that
allocated most with what they call.  EXCLUDE-SWANK: without those of SLIME."
  (handler-case
      (let* ((profile (current-profile))
             (functions (profile-functions profile)))
        (when exclude-swank
          (setf functions (remove-if #'swank-function-p functions)))
        (setf *browsed* (make-browsed profile (coerce functions 'vector)))
        (list* (first-row profile)
               (append (function-rows functions profile)
                       (last-rows functions profile))))
    (nothing-recorded-error ()
      (setf *browsed* nil)
      (tell-emacs "nothing has been recorded; M-x slime-sprof-start begins"))))

;;; What is below a function in the list

(defun arc-rows (arcs end profile)
  "The rows of ARCS at their END, a function: number, name, percentage."
  (loop for arc in arcs
        for function = (funcall end arc)
        for bytes = (arc-bytes arc)
        collect (list (function-row function)
                      (wide-name (row-name function) bytes)
                      (percentage bytes profile))))

(defun self-rows (function profile)
  "A row for what FUNCTION allocated itself, if it did."
  (let ((bytes (function-self-bytes function)))
    (and (plusp bytes)
         `((nil ,(wide-name (format nil "itself, ~:D allocation~:P"
                                    (function-self-allocs function))
                            bytes)
                ,(percentage bytes profile))))))

(defun browser-expand-node (row)
  "The callers of the function in ROW with what was allocated through them; and
what it allocated itself, with the functions that it called."
  (let ((function (row-function row)))
    (if function
        (let ((profile (browsed-profile *browsed*)))
          (list :callers (arc-rows (function-callers function) #'arc-caller
                                   profile)
                :calls (append (self-rows function profile)
                               (arc-rows (function-callees function)
                                         #'arc-callee profile))))
        (tell-emacs *stale*))))

;;; From the name of a function to its definition

(defun defined-name (form)
  "The name of the definition that FORM, a function's name as the tables print it,
is of or inside of: a symbol, (SETF symbol) or (METHOD ...); or NIL."
  (cond ((symbolp form) (and form (fboundp form) form))
        ((atom form) nil)
        ((eq (first form) 'method) form)
        ((eq (first form) 'setf)
         (and (si:valid-function-name-p form) (fboundp form) form))
        (t (defined-name (second (member :in form))))))

(defun row-definition (function)
  "The name of the definition of FUNCTION, a PROFILE-FUNCTION, or NIL."
  (and (member (function-kind function) '(:lisp :interpreted :entry))
       (with-standard-io-syntax
         (let ((*read-eval* nil))
           (ignore-errors
            (defined-name (read-from-string (function-name function))))))))

(defun method-definition-p (definition method)
  "True when DEFINITION, such as (DEFMETHOD AREA :AFTER (X SQUARE) Y), is that of
METHOD, such as (METHOD AREA :AFTER (SQUARE T))."
  (let* ((qualifiers (butlast (cddr method)))
         (specializers (first (last method)))
         (rest (cddr definition))
         (start (mismatch rest qualifiers :test #'equal))
         (parameters (nthcdr (length qualifiers) rest)))
    (and (eq (first definition) 'defmethod)
         (or (null start) (<= (length qualifiers) start))
         (<= (length specializers) (length parameters))
         (every (lambda (parameter specializer)
                  (if (consp parameter)
                      (equal specializer (second parameter))
                      ;; A keyword would be one more qualifier.
                      (and (eq specializer t) (not (keywordp parameter)))))
                parameters specializers))))

(defun definition-location (name)
  "Where NAME, as of DEFINED-NAME, is defined as a function: a location of
SWANK's, or NIL."
  (let ((method (and (consp name) (eq (first name) 'method) name)))
    (loop for (definition location)
            in (call-swank "SWANK/BACKEND" "FIND-DEFINITIONS"
                           (if method (second method) name))
          when (if method
                   (method-definition-p definition method)
                   (member (first definition)
                           '("DEFUN" "DEFGENERIC" "DEFMACRO" "C-SOURCE")
                           :test #'string=))
            return location)))

(defun browser-source-location (row)
  "Where the function in ROW is defined, or an error with a sentence."
  (let* ((function (row-function row))
         (name (and function (row-definition function))))
    (cond ((null function) (list :error *stale*))
          ((and name (definition-location name)))
          (t
           (list :error (format nil "ECL does not know where ~A is defined"
                                (row-name function)))))))

(defun disassembly (name)
  "The text of CL:DISASSEMBLE of NAME, as of DEFINED-NAME; empty when ECL cannot, as
it cannot a method."
  (with-output-to-string (*standard-output*)
    (handler-bind ((warning #'muffle-warning))
      (disassemble (or (and (symbolp name) (macro-function name))
                       (fdefinition name))))))

(defun browser-disassemble (row)
  "The text of CL:DISASSEMBLE of the function in ROW, or a sentence."
  (let* ((function (row-function row))
         (name (and function (row-definition function)))
         (text (and name (ignore-errors (disassembly name)))))
    (cond ((null function) *stale*)
          ((plusp (length text)) text)
          (t (format nil "ECL cannot disassemble ~A" (row-name function))))))

;;; Recording

(defun browser-start (&key mode)
  "Begin a recording, as SBCL's profiler begins one: without what was recorded
before.  MODE, what that one samples by, has no meaning here."
  (declare (ignore mode))
  (unless (running-p)
    (reset)
    (start))
  t)

(defun browser-stop ()
  "Stop recording."
  (stop)
  t)

(defun define-for-swank ()
  "Give the functions of this file the names that slime-sprof.el calls."
  (let ((package (find-package "SWANK")))
    (unless package
      (error 'message-error
             :message (format nil "there is no SWANK here: connect SLIME first, or ~
                                   put (require :mprof-swank) into ~~/.swank.lisp")))
    (loop for (name function)
            in '(("GET-CALL-GRAPH" browser-call-graph)
                 ("EXPAND-NODE" browser-expand-node)
                 ("SOURCE-LOCATION" browser-source-location)
                 ("DISASSEMBLE" browser-disassemble)
                 ("START" browser-start)
                 ("STOP" browser-stop))
          for symbol = (intern (format nil "SWANK-SPROF-~A" name) package)
          do (setf (fdefinition symbol) (fdefinition function))
             (export symbol package))))

(define-for-swank)
(provide "MPROF-SWANK")
