;;;; names-check.lsp - are the names and the counts those of names.lsp?
;;;;
;;;; Usage: ecl --norc --shell names-check.lsp SEXP HOW NAMES, where SEXP is what
;;;; `mprof --sexp` printed about a run of names-run.lsp and HOW is interpreted,
;;;; compiled, or plain: compiled by an ECL without the patch, which does not
;;;; tell where a local function is from; NAMES is monitor/format/runtime_names.c.

(defpackage :names-check
  (:use :cl))
(in-package :names-check)

(load (merge-pathnames "variables.lsp" *load-truename*) :verbose nil)

(defvar *arguments* (rest ext:*unprocessed-ecl-command-args*))
(defvar *how* (intern (string-upcase (second *arguments*)) :keyword))
(defvar *compiled* (not (eq *how* :interpreted)))
(defvar *profile*
  (with-open-file (in (first *arguments*) :external-format :utf-8)
    (let ((*read-eval* nil))
      (read in))))
(defvar *functions* (getf *profile* :functions))
(defvar *failed* nil)
(defvar *conses* (variables:conses-per-variable))

(defmacro around-method (&environment environment)
  "What DEFMETHOD makes of a method in a file, as a constant."
  `',(macroexpand-1 '(defmethod around :around ((x symbol)) (call-next-method))
                    environment))

(defun mentions (name tree)
  (if (consp tree)
      (or (mentions name (car tree)) (mentions name (cdr tree)))
      (and (symbolp tree) (string= name tree))))

(defvar *makes-next-methods*
  ;; Some versions of ECL believe of each method in a file that it is inside of
  ;; a function, and make CALL-NEXT-METHOD and NEXT-METHOD-P local functions of
  ;; it.  An interpreted method then binds two variables more, and makes a
  ;; closure of each.
  (mentions ".NEXT-METHODS." (around-method)))

(defparameter *expected*
  ;; Blocks that the function itself allocates; and in bytecodes the variables
  ;; that its calls bind, of *CONSES* conses each, and the closures they make.
  `(("ZOO::HELPER" 6 0)
    ("ZOO::COUNTER" 10 0)
    ("ZOO::TWIN" 40 0)
    ("ZOO::|Mixed Case|" 44 0)
    ("ZOO::|z|" 56 0)
    ("ZOO::|Back\\\\slash|" 60 0)
    ("ZOO::MANY" 42 4)
    ("ZOO::EXPANDED" 8 :any)
    ("ZOO::IN-HANDLER" :any :any)
    ("(SETF ZOO::FOO)" 30 2)
    ("(METHOD ZOO::AREA (ZOO::CIRCLE))" 36 4)
    ("(METHOD ZOO::AREA :AROUND (ZOO::SQ))"
     20 ,@(if *makes-next-methods* '(6 4) '(2 0)))
    ("(METHOD ZOO::AREA :BEFORE (ZOO::CIRCLE))" 44 4)
    ("(METHOD (SETF ZOO::AREA) (T ZOO::CIRCLE))" 24 4)
    ("(METHOD ZOO::NAMED ((EQL :THREE)))" 26 2)
    ("(METHOD ZOO::NAMED (CL:SYMBOL))" 28 2)
    ("ZOO::REDEFINED" 132 0)
    ("ZOO::COMPILED-BEFORE" 25 0)
    ("ZOO::COMPILED-DURING" 52 0)
    ("ZOO::FIRST-ONE" 31 0)
    ("ZOO::SECOND-ONE" 32 0)
    ("ZOO::THIRD-ONE" 33 0)
    ("ZOO::FOURTH-ONE" 34 0)
    ("ZOO::FIFTH-ONE" 35 0)
    ("ZOO::SIXTH-ONE" 35 0)
    ("(FLET IN-FIRST-ONE :IN ZOO::FIRST-ONE)" 31 0)
    ("(FLET IN-SECOND-ONE :IN ZOO::SECOND-ONE)" 32 0)
    ("(FLET IN-THIRD-ONE :IN ZOO::THIRD-ONE)" 33 0)
    ("(FLET IN-FOURTH-ONE :IN ZOO::FOURTH-ONE)" 34 0)
    ("(FLET IN-FIFTH-ONE :IN ZOO::FIFTH-ONE)" 35 0)
    ("(FLET IN-SIXTH-ONE :IN ZOO::SIXTH-ONE)" 35 0)
    ,@(loop for i below 40
            collect (list (format nil "ZOO::PASSING-~d" i) 23))
    ("ZOO::COMPARE-INSIDE" ,(+ 1 (* 2 *conses*)) 0) ; interpreted always
    ("CL:MAPCAR" :any :any)
    ("CL:LIST" :any :any)
    ("CL:MAKE-ARRAY" :any :any)
    ("CL:MAKE-HASH-TABLE" :any :any)
    ("CL:SUBSEQ" :any :any)))

(defparameter *expected-local*
  `((:compiled
     ("(LABELS WALK :IN ZOO:TREE-SUM)" 56)
     ("(LABELS DOWN :IN ZOO:TREE-SUM)" 8)
     ("(LAMBDA :IN ZOO:TREE-SUM)" 24)
     ("(LAMBDA :IN ZOO::OUTER)" 38)
     ("(LAMBDA :IN ZOO::MAKE-ADDER)" 12)
     ("(LAMBDA :IN ZOO::MAKE-ONE-OF-TWO)" 120)
     ("(FLET EARLY :IN ZOO::SAME-NAME)" 72)
     ("(FLET LATE :IN ZOO::SAME_NAME)" 74)
     ;; In later versions it does not stand there under this name.
     ,@(when (member (lisp-implementation-version) '("21.2.1")
                     :test #'string=)
         '(("(FLET DEEPER :IN ZOO::BELOW)" 78)))
     ("(LAMBDA :IN ZOO::SHARE-METHOD)" 152))
    (:interpreted
     ("(LABELS ZOO::WALK :IN ZOO:TREE-SUM)" 56)
     ("(LABELS ZOO::DOWN :IN ZOO:TREE-SUM)" 8)
     ("(FLET ZOO::TWICE :IN ZOO:TREE-SUM)" 2)
     ("(LAMBDA :IN ZOO:TREE-SUM)" 24 4)
     ("(LAMBDA :IN ZOO::OUTER)" 38))
    (:plain
     ("(LOCAL WALK)" 56)
     ("(LOCAL DOWN)" 8))))

(defparameter *expected-anonymous* '(12 24 38)
  "What lambdas allocated of which not even the function around them is known.")

(defun blocks (counts)
  (loop for (allocs) on counts by #'cddr sum allocs))

(defun named (name)
  (remove name *functions* :key (lambda (f) (getf f :name))
                           :test-not #'equal))

(defun fail (control &rest arguments)
  (setf *failed* t)
  (format t "FAIL ~?~%" control arguments))

(defun check (name expected)
  "The function NAME is there, and allocated EXPECTED blocks itself."
  (let* ((found (named name))
         (self (loop for f in found sum (blocks (getf f :self)))))
    (cond ((null found) (fail "no ~a" name))
          ((member :c found :key (lambda (f) (getf f :kind)))
           (fail "~a is a C function" name))
          ((not (or (eq expected :any) (eql self expected)))
           (fail "~a allocated ~d, not ~d" name self expected)))))

(defun expected (blocks &optional (variables 0) (closures 0))
  "How many blocks that are in all, or :ANY."
  (cond ((eq blocks :any) :any)
        (*compiled* blocks)
        ((eq variables :any) :any)
        (t (+ blocks (* *conses* variables) closures))))

(defun caller-of (function)
  (loop for (caller callee) in (getf *profile* :arcs)
        when (eql callee (getf function :id))
          collect (find caller *functions* :key (lambda (f) (getf f :id)))))

(defun check-called-from (name caller)
  (unless (loop for f in (named name)
                  thereis (find caller (caller-of f)
                                :key (lambda (f) (getf f :name))
                                :test #'equal))
    (fail "~a is not called by ~a" name caller)))

(defun starts-with (prefix name)
  (eql 0 (search prefix name)))

(defun check-anonymous (expected)
  "Numbered lambdas of the file of this test allocated EXPECTED blocks each."
  (let ((found (loop for f in *functions*
                     for name = (getf f :name)
                     when (and (starts-with "(LAMBDA #" name)
                               (search ":IN plain.fas)" name))
                       collect (blocks (getf f :self)))))
    (dolist (blocks expected)
      (unless (member blocks found)
        (fail "no lambda allocated ~d, but ~{~d~^, ~}" blocks found)))))

(defun check-c-function (prefix)
  (unless (find-if (lambda (f)
                     (and (eq (getf f :kind) :c)
                          (starts-with prefix (getf f :name))))
                   *functions*)
    (fail "no C function ~a..." prefix)))

(loop for (name . numbers) in (append *expected*
                                      (rest (assoc *how* *expected-local*)))
      do (check name (apply #'expected numbers)))
(check-called-from "CL:MAPCAR" "ZOO::C-FUNCTIONS")
(check-called-from "CL:LIST" "ZOO::C-FUNCTIONS")
(check-called-from "CL:MAKE-ARRAY" "ZOO::C-FUNCTIONS")
(check-called-from "CL:MAKE-HASH-TABLE" "ZOO::C-FUNCTIONS")
(check-called-from "CL:SUBSEQ" "ZOO::C-FUNCTIONS")
(check-called-from "ZOO::HELPER" "ZOO:RUN")
(if (eq *how* :plain)
    (check-anonymous *expected-anonymous*)
    (check-called-from "(LAMBDA :IN ZOO:TREE-SUM)" "CL:MAPC"))
(check-c-function "__gmp")
(check-c-function "qsort")
;; What loads compiled files has the file's name, or none when it was COMPILE's.
(dolist (file '("first-one" "sixth-one"))
  (check-c-function (format nil "<load of ~a.fas>" file)))
(check-c-function "<load by COMPILE>")
(dolist (f *functions*)
  (let ((name (getf f :name)))
    ;; A name of the C compiler's for a function of names.lsp
    (when (and (eq (getf f :kind) :c)
               (some (lambda (part) (search part name))
                     '("tree_sum" "in_handler" "make_adder" "outer" "walk"
                       "down" "zoo")))
      (fail "~a has its C name" name))
    ;; A name of ECL's own for the work of a Lisp function, or for a file
    (when (some (lambda (prefix) (starts-with prefix name))
                '("cl__" "ecl_subseq" "_ecl_sethash" "ecl_extend_hashtable"
                  "duplicate_dispatch_table" "init_fas" "ecl_init_module"))
      (fail "~a has its C name" name))
    (dolist (caller (caller-of f))
      (when (and (eq caller f) (starts-with "CL:MAKE-HASH-TABLE" name))
        (fail "~a calls itself" name)))))
;; Each name that the reducer gives to C functions is one of this Lisp.
(with-open-file (in (third *arguments*))
  (loop for line = (read-line in nil)
        for start = (and line (starts-with "    {\"" line)
                         (search "\", \"" line))
        while line
        when start
          do (let ((name (subseq line (+ start 4) (position #\" line :from-end t))))
               (unless (fboundp (read-from-string name))
                 (fail "~a is no function" name)))))
(ext:quit (if *failed* 1 0))
