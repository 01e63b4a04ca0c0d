;;;; module.lsp - a module of a program to be compiled; the benchmark makes a
;;;; file of many, each with another number in place of 00.

(in-package :bank)

(defstruct (account-00 (:constructor %make-account-00 (owner balance)))
  owner
  (balance 0 :type integer)
  (history '() :type list))

(define-condition overdrawn-00 (error)
  ((account :initarg :account :reader overdrawn-account-00)
   (amount :initarg :amount :reader overdrawn-amount-00))
  (:report (lambda (condition stream)
             (format stream "~a cannot pay ~d."
                     (account-00-owner (overdrawn-account-00 condition))
                     (overdrawn-amount-00 condition)))))

(defmacro with-entry-00 ((account kind amount) &body body)
  "Do BODY, then note in the history of ACCOUNT what was done."
  (let ((place (gensym)) (sum (gensym)))
    `(let ((,place ,account) (,sum ,amount))
       (multiple-value-prog1 (progn ,@body)
         (push (list ,kind ,sum) (account-00-history ,place))))))

(defun deposit-00 (account amount)
  (check-type amount (integer 1))
  (with-entry-00 (account :deposit amount)
    (incf (account-00-balance account) amount)))

(defun withdraw-00 (account amount)
  (check-type amount (integer 1))
  (when (> amount (account-00-balance account))
    (error 'overdrawn-00 :account account :amount amount))
  (with-entry-00 (account :withdrawal amount)
    (decf (account-00-balance account) amount)))

(defun transfer-00 (from to amount &key (fee 0) (note "") quietly)
  (handler-case (progn (withdraw-00 from (+ amount fee))
                       (deposit-00 to amount))
    (overdrawn-00 (condition)
      (unless quietly
        (format t "~&~a ~a~%" note condition))
      nil)
    (:no-error (balance) (values balance (list from to)))))

(defun statement-00 (account &optional (stream *standard-output*))
  (loop with balance = 0
        for (kind amount) in (reverse (account-00-history account))
        for line from 1
        do (ecase kind
             (:deposit (incf balance amount))
             (:withdrawal (decf balance amount)))
           (format stream "~3d ~12a ~8d ~8d~%" line kind amount balance)
        finally (return balance)))

(defun sorted-names-00 (accounts)
  (flet ((name (account)
           (string-upcase (princ-to-string (account-00-owner account)))))
    (sort (mapcar #'name accounts) #'string<)))

(defun histogram-00 (numbers)
  (let ((table (make-hash-table :test #'eql)))
    (dolist (number numbers)
      (incf (gethash (floor number 10) table 0)))
    (let ((pairs '()))
      (maphash (lambda (key count) (push (cons key count) pairs)) table)
      (sort pairs #'< :key #'car))))

(defun interest-00 (balance rate years)
  (declare (type double-float balance rate) (type fixnum years))
  (let ((sum balance))
    (declare (type double-float sum))
    (dotimes (year years sum)
      (setf sum (* sum (+ 1d0 (/ rate 100d0)))))))

(defun parse-orders-00 (string &key (start 0) (end (length string)))
  (labels ((skip (i)
             (or (position #\Space string :start i :end end :test-not #'eql)
                 end))
           (word (i)
             (or (position #\Space string :start i :end end) end))
           (scan (i words)
             (let ((from (skip i)))
               (if (= from end)
                   (nreverse words)
                   (let ((to (word from)))
                     (scan to (cons (subseq string from to) words)))))))
    (scan start '())))

(defgeneric describe-thing-00 (thing detail))

(defmethod describe-thing-00 ((thing account-00) (detail (eql :short)))
  (princ-to-string (account-00-owner thing)))

(defmethod describe-thing-00 ((thing account-00) detail)
  (format nil "~a: ~d ~@[(~a)~]" (account-00-owner thing)
          (account-00-balance thing) detail))
