;;;; harness.lisp - as much of a test framework as these tests need.

(defpackage "MPROF/TESTS"
  (:use "COMMON-LISP")
  (:documentation "Tests of MPROF; RUN-ALL runs them.")
  (:export "RUN-ALL"))

(in-package "MPROF/TESTS")

(defvar *tests* '()
  "Names of the tests, the last one first.")

(defvar *failures* '()
  "What did not hold in the running test.")

(defmacro deftest (name &body body)
  "Define the test NAME.  It fails when a CHECK in it does, or by an error."
  `(progn
     (defun ,name () ,@body)
     (pushnew ',name *tests*)))

(defmacro check (form)
  "FORM, a call, must be true; if not its arguments are shown."
  (let ((arguments (loop for nil in (rest form) collect (gensym))))
    `(let ,(mapcar #'list arguments (rest form))
       (unless (,(first form) ,@arguments)
         (push (list ',form ,@arguments) *failures*)))))

(defmacro check-signals (condition &body body)
  "BODY must signal CONDITION, which must print as one line."
  `(handler-case (progn ,@body)
     (,condition (condition)
       (check (null (find #\Newline (princ-to-string condition)))))
     (:no-error (&rest values)
       (declare (ignore values))
       (push '(,condition "was not signalled") *failures*))))

(defun run-test (name)
  "Run the test NAME; true when it passed."
  (let ((*failures* '()))
    (handler-case (funcall name)
      (error (condition)
        (push (list (type-of condition) (princ-to-string condition))
              *failures*)))
    (mprof:stop)
    (mprof:reset)
    (format t "~:[FAIL~;PASS~]: ~(~A~)~%~{    ~S~%~}" (null *failures*) name
            (reverse *failures*))
    (null *failures*)))

(defun run-all ()
  "Run all tests; true when all passed.  The last line counts them."
  (let* ((results (mapcar #'run-test (reverse *tests*)))
         (failed (count nil results)))
    #-threads (format t "SKIP: this ECL has no threads~%")
    (format t "~D passed, ~D failed~%" (- (length results) failed) failed)
    (zerop failed)))
