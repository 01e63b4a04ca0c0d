;;;; profiles.lisp - tests of the numbers as objects.

(in-package "MPROF/TESTS")

(defstruct widget colour)

(defun make-one (colour)
  (make-widget :colour colour))

(defun make-red () (make-one 'red))

(defun make-blue () (make-one 'blue))

(defun make-all (reds blues)
  (dotimes (i reds) (make-red))
  (dotimes (i blues) (make-blue)))

(declaim (notinline make-one make-red make-blue make-all))

(defun self-allocs (name profile)
  (mprof:function-self-allocs (mprof:find-function name profile)))

(defun total-bytes (name profile)
  (mprof:function-total-bytes (mprof:find-function name profile)))

(deftest producers-are-told-apart
  (quietly (make-all 30 70))
  (let* ((profile (mprof:current-profile :findings t))
         (bin (find "MPROF/TESTS::WIDGET" (mprof:profile-bins profile)
                    :key #'mprof:bin-name :test #'equal))
         (red (total-bytes 'make-red profile))
         (blue (total-bytes 'make-blue profile)))
    (check (= 100 (mprof:bin-objects bin)))
    (check (= 100 (mprof:bin-storage bin)))
    (check (eq :structure (mprof:bin-class bin)))
    (check (= (* 70 red) (* 30 blue)))
    (check (= (+ red blue) (total-bytes 'make-all profile)))
    (check (= (+ red blue) (mprof:profile-bytes profile)))
    (check (= (mprof:profile-allocs profile) 200))
    (check (search "100% of all bytes" (first (mprof:profile-findings profile))))
    (let ((callers (mprof:function-callers
                    (mprof:find-function 'make-one profile))))
      (check (equal (list blue red) (mapcar #'mprof:arc-bytes callers)))
      (check (equal '("MPROF/TESTS::MAKE-BLUE" "MPROF/TESTS::MAKE-RED")
                    (mapcar (lambda (arc)
                              (mprof:function-name (mprof:arc-caller arc)))
                            callers))))))

(defun cons-at-the-end (n)
  (if (zerop n) (cons nil nil) (or (cons-at-the-end (1- n)) 1)))

(declaim (notinline cons-at-the-end))

(deftest recursion-counts-an-allocation-once
  (quietly (cons-at-the-end 100))
  (let ((profile (mprof:current-profile)))
    (check (= 1 (mprof:profile-allocs profile)))
    (check (= 16 (total-bytes 'cons-at-the-end profile)))))

(deftest classes-are-told-apart
  (quietly (conses 3) (make-red) (ash 1 100) (sqrt 2d0))
  (let ((profile (mprof:current-profile)))
    (flet ((total (class)
             (loop for function in (mprof:profile-functions profile)
                   sum (mprof:function-self-allocs function class))))
      (check (<= 3 (total :cons)))
      (check (= 2 (total :structure)))
      (check (= (total nil) (mprof:profile-allocs profile)))))
  (check-signals mprof:mprof-error
    (mprof:function-self-bytes
     (first (mprof:profile-functions (mprof:current-profile))) :widget)))

(deftest objects-print-readably-for-people
  (quietly (make-red))
  (let ((profile (mprof:current-profile)))
    (dolist (object (list* profile
                           (append (mprof:profile-functions profile)
                                   (mprof:profile-bins profile)
                                   (mprof:profile-threads profile))))
      (check (search "#<" (prin1-to-string object))))))

(deftest functions-are-found-by-name
  (quietly (make-red) (mapcar #'list '(1)))
  (let ((profile (mprof:current-profile)))
    (check (mprof:find-function 'make-red profile))
    (check (mprof:find-function "MAKE-RED" profile))
    (check (mprof:find-function 'list profile))
    (check (null (mprof:find-function "NO-SUCH-FUNCTION" profile)))))

(defun decoded (&rest bytes)
  "The codes of the characters that BYTES after the first one are in UTF-8."
  (map 'list #'char-code
       (mprof::decode-utf-8 (map '(simple-array base-char (*)) #'code-char bytes)
                            1)))

(deftest what-the-reducer-prints-is-utf-8
  (check (null (decoded 200)))
  (check (equal '(97 98) (decoded 200 97 98)))
  ;; Of two, three and four bytes; at the beginning, the end, and side by side.
  (check (equal '(#x3BB 97 #x20AC #x1F600 10)
                (decoded 48 #xCE #xBB 97 #xE2 #x82 #xAC #xF0 #x9F #x98 #x80 10)))
  (check (equal '(97 98 #xE9) (decoded 48 97 98 #xC3 #xA9)))
  ;; What belongs to nothing, is cut off, has too many bytes, is a surrogate, or is
  ;; more than there is.
  (check (equal '(#xFFFD 97) (decoded 48 #x80 97)))
  (check (equal '(#xFFFD 97) (decoded 48 #xE2 #x82 97)))
  (check (equal '(97 #xFFFD) (decoded 48 97 #xE2 #x82)))
  (check (equal '(#xFFFD #xFFFD) (decoded 48 #xC0 #x80)))
  (check (equal '(#xFFFD) (decoded 48 #xED #xA0 #x80)))
  (check (equal '(#xFFFD) (decoded 48 #xF4 #x90 #x80 #x80))))

(deftest the-users-printer-does-not-matter
  (quietly (make-all 3 7))
  (let ((profile (mprof:current-profile)))
    (let ((*print-base* 2) (*print-radix* t) (*print-case* :downcase)
          (*print-length* 1) (*read-default-float-format* 'double-float))
      (check (mprof:find-function 'make-red profile))
      (check (= (mprof:profile-bytes profile)
                (mprof:profile-bytes (mprof:current-profile))))
      (check (search "WIDGET"
                     (mprof:report :tables :direct :limit-rows 10 :stream nil))))))

(deftest what-mprof-allocates-is-not-recorded
  (mprof:reset)
  (mprof:start)
  (make-red)
  (let ((bytes (mprof:profile-bytes (mprof:current-profile))))
    (mprof:report :stream nil)
    (mprof:current-profile)
    (mprof:stop)
    (check (< (- (mprof:profile-bytes (mprof:current-profile)) bytes) 20000))))

(deftest all-that-is-exported-is-documented
  (let ((without '()))
    (do-external-symbols (symbol :mprof)
      (when (and (fboundp symbol) (not (documentation symbol 'function)))
        (push symbol without)))
    (check (null without))))

(deftest tables-that-lisp-has-not-say-so
  (quietly (make-red))
  (dolist (table '(:leaks :alive :peak :temporary))
    (check (< 4 (count #\Newline (mprof:report :tables table :stream nil))))))

(defclass crate () ((contents :initform nil :accessor contents)))

(defmethod initialize-instance :after ((crate crate) &key)
  (setf (contents crate) (make-list 10)))

(defmethod print-object ((crate crate) stream)
  (print-unreadable-object (crate stream)
    (format stream "~D" (length (make-list 20)))))

(defun cl-user::make-list-there (n) (list (make-list n)))

(declaim (notinline cl-user::make-list-there))

(defun direct-rows (pattern)
  (mprof:report :tables :direct :only pattern :verbosity :verbose :stream nil))

(deftest ones-own-methods-are-ones-own
  "Whatever package has the generic function; and CL-USER is a package."
  (quietly (dotimes (i 10) (princ-to-string (make-instance 'crate)))
           (cl-user::make-list-there 10))
  (let ((rows (direct-rows "^MPROF/TESTS$")))
    (check (search "(METHOD CL:INITIALIZE-INSTANCE" rows))
    (check (search "(METHOD CL:PRINT-OBJECT" rows)))
  (dolist (pattern '("^CL-USER$" "^COMMON-LISP-USER$"))
    (check (search "MAKE-LIST-THERE" (direct-rows pattern)))))

(defclass slow () ((buffer :initform (make-array 1000))))

(defun make-slow () (list (make-instance 'slow)))

(declaim (notinline make-slow))

(deftest short-chains-show-ones-own-functions
  "What an initial form makes is CLOS's, by many frames."
  (quietly (dotimes (i 20) (make-slow)))
  (check (search "MAKE-SLOW"
                 (mprof:report :tables :paths :limit-rows 1 :stream nil)))
  (let ((text (handler-case
                  (mprof:with-allocation-limit (:bytes 10) (make-slow))
                (mprof:allocation-limit-exceeded (c) (princ-to-string c)))))
    (check (search "MAKE-SLOW" text))))
