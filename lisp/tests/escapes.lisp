;;;; escapes.lisp - tests of ESCAPES.

(in-package "MPROF/TESTS")

(defvar *held* '())

(defun leave-some (n)
  "Allocate a list of N conses that nothing holds, a string that is returned, and at every
fifth N a cons that is held."
  (let ((list (make-list n)))
    (when (zerop (mod n 5))
      (push (length list) *held*))
    (make-string (length list) :element-type 'base-char)))

(defun leave-none (n)
  (declare (notinline leave-some))
  (length (leave-some n)))

(defun double-list (n)
  "Call itself, and allocate in each call."
  (declare (notinline double-list))
  (if (zerop n) (list 1) (append (double-list (1- n)) (list n))))

(defgeneric count-items (items)
  (:method ((items list))
    (length (copy-list items))))

(dolist (name '(leave-some leave-none double-list))
  (compile name))

(defun escape (chain type rows)
  "The numbers of the row with TYPE and CHAIN in ROWS."
  (let ((row (find-if (lambda (row)
                        (and (string= type (first row)) (equal chain (second row))))
                      rows)))
    (nthcdr 2 row)))

(defparameter *name* "MPROF/TESTS::LEAVE-SOME")

(deftest what-escapes-from-calls
  (let ((rows (mprof:escapes 'leave-some :arguments '(10) :calls 12 :stream nil)))
    (check (equal '(1920 120 0 0 0)
                  (escape (list "CL:MAKE-LIST" *name*) "cons" rows)))
    (check (equal '(192 12 192 12 12) (escape (list *name*) "cons" rows)))
    (destructuring-bind (&optional bytes (blocks 0) live-bytes (live-blocks 0) (calls 0))
        (escape (list "CL:MAKE-STRING" *name*) "base-string" rows)
      (check (eql bytes live-bytes))
      (check (equal '(12 12 12) (list blocks live-blocks calls))))
    (check (= 12 (length *held*))))
  (setf *held* '()))

(deftest what-escapes-from-calls-of-a-program
  (let ((rows (mprof:escapes 'leave-some :calls 7 :stream nil
                                         :during (lambda ()
                                                   (dotimes (i 30) (leave-none i))))))
    ;; 0 to 6: of two of these calls a cons is held.
    (check (equal '(336 21 0 0 0) (escape (list "CL:MAKE-LIST" *name*) "cons" rows)))
    (check (equal '(32 2 32 2 2) (escape (list *name*) "cons" rows)))
    (check (= 6 (length *held*))))
  (check (= 3 (length (leave-some 3))))
  (setf *held* '()))

(deftest calls-within-a-call-are-a-part-of-it
  (let* ((name "MPROF/TESTS::DOUBLE-LIST")
         (rows (mprof:escapes 'double-list :arguments '(3) :calls 2 :stream nil)))
    (check (= (* 2 16 (+ 1 (+ 1 2 3) 3)) (reduce #'+ rows :key #'third)))
    ;; A call returns a copy of three conses, and the last one.
    (check (= (* 2 4) (reduce #'+ rows :key #'sixth)))
    (check (equal '(96 6 96 6 2) (escape (list "CL:APPEND" name) "cons" rows)))))

(deftest methods-are-part-of-their-function
  (let ((rows (mprof:escapes 'count-items :arguments '((1 2 3)) :calls 3 :stream nil)))
    (check (equal '(144 9 0 0 0)
                  (escape '("CL:COPY-LIST" "(METHOD MPROF/TESTS::COUNT-ITEMS (CL:LIST))"
                            "MPROF/TESTS::COUNT-ITEMS")
                          "cons" rows))))
  (check (typep #'count-items 'generic-function)))

(defun keep-or-throw (n)
  (let ((list (make-list 5)))
    (cond ((oddp n) (push list *held*) (throw 'out nil))
          (t (length list)))))
(compile 'keep-or-throw)

(defun return-nothing (n)
  (list n)
  (values))
(compile 'return-nothing)

(deftest values-are-the-functions
  (let ((found '()))
    (mprof:escapes 'return-nothing
                   :stream nil
                   :during (lambda ()
                             (setf found (list (funcall 'return-nothing 1)
                                               (multiple-value-list
                                                (funcall 'return-nothing 1))))))
    (check (equal '(nil nil) found))))

(deftest only-calls-that-return-count
  (multiple-value-bind (rows calls begun)
      (mprof:escapes 'keep-or-throw :stream nil
                                    :during (lambda ()
                                              (dotimes (i 6)
                                                (catch 'out (funcall 'keep-or-throw i)))))
    (check (equal '(240 15 0 0 0)
                  (escape (list "CL:MAKE-LIST" "MPROF/TESTS::KEEP-OR-THROW") "cons" rows)))
    (check (= 1 (length rows)))
    (check (equal '(3 6) (list calls begun))))
  (setf *held* '()))

(deftest calls-past-the-name-and-of-other-threads-do-not-count
  (let* ((direct #'leave-some)
         (rows (mprof:escapes 'leave-some :stream nil
                                          :during
                                          (lambda ()
                                            (funcall direct 10)
                                            (leave-none 3)
                                            (mp:process-join
                                             (mp:process-run-function
                                              "other" (lambda () (leave-none 5))))
                                            (funcall direct 10)))))
    (check (equal '(48 3 0 0 0) (escape (list "CL:MAKE-LIST" *name*) "cons" rows)))
    (check (null (escape (list *name*) "cons" rows))))
  (setf *held* '()))

(deftest what-the-program-defines-meanwhile-stays
  (setf (symbol-function 'for-a-time) (lambda () (list 1)))
  (mprof:escapes 'for-a-time :stream nil
                             :during (lambda ()
                                       (for-a-time)
                                       (setf (symbol-function 'for-a-time)
                                             (lambda () 42))))
  (check (eql 42 (funcall 'for-a-time)))
  (mprof:escapes 'count-items :stream nil
                              :during (lambda ()
                                        (check (typep #'count-items 'generic-function))
                                        (eval '(defmethod count-items ((items null)) 77))
                                        (check (= 77 (count-items '())))))
  (check (= 77 (count-items '())))
  (check (= 2 (count-items '(1 2)))))

(deftest functions-are-as-they-were
  (let ((before #'leave-some))
    (mprof:escapes 'leave-some :calls 1 :arguments '(1) :stream nil)
    (catch 'out
      (mprof:escapes 'leave-some :stream nil :during (lambda () (throw 'out nil))))
    (check (eq before #'leave-some))
    (check (not (mprof:running-p)))
    (check (search "No call of MPROF/TESTS::LEAVE-SOME was seen in this thread."
                   (with-output-to-string (stream)
                     (mprof:escapes 'leave-some :stream stream
                                                :during (lambda () nil))))))
  (setf *held* '()))

(deftest what-cannot-be-watched
  (check-refused
   (mprof:escapes 'no-such-function) (mprof:escapes 'when) (mprof:escapes 42)
   (mprof:escapes 'leave-some :calls 0) (mprof:escapes 'leave-some :calls 251)
   (mprof:escapes 'leave-some :arguments 3) (mprof:escapes 'leave-some :during 3)
   (mprof:escapes 'leave-some :during #'leave-none :arguments '(1))
   (mprof:escapes 'leave-some :limit-rows -1))
  (mprof:with-profiling (:report nil)
    (check-signals mprof:already-running-error
      (mprof:escapes 'leave-some :arguments '(1)))))
