import IndoorVocabulary

/// The one task of its kind that counts: what an earlier one still brings is recognised by its number.
///
/// The task is cancelled when the next takes its place, and when this value goes away.
package struct CurrentTask: ~Copyable, Sendable {
    /// Counts the tasks that were begun, and the ends.
    package private(set) var number = 0
    private var task: Task<Void, Never>?

    package init() {}

    deinit { task?.cancel() }

    /// Whether the task of that number was neither replaced nor cancelled.
    package func isCurrent(_ number: Int) -> Bool { number == self.number }

    /// Puts a new task, which knows its number, in the place of the one before.
    @discardableResult package mutating func begin(_ make: (_ number: Int) -> Task<Void, Never>) -> Task<Void, Never> {
        cancel()
        let next = make(number)
        task = next
        return next
    }

    /// Ends the task; what it brings from now on counts no more.
    package mutating func cancel() {
        task?.cancel()
        task = nil
        number += 1
    }

    /// The task itself tells that its work is done; returns false if it counts no more.
    mutating func finish(_ number: Int) -> Bool {
        guard isCurrent(number) else { return false }
        task = nil
        self.number += 1
        return true
    }
}

extension CurrentTask {
    /// Begins to scan a source, and hands each reading to an actor, and then why the scan has ended.
    ///
    /// - Parameters:
    ///   - timing: for the radio; nil leaves it to the source.
    ///   - receive: takes a reading and the number of this task, which may have been replaced in the meantime.
    ///   - report: takes an error that the scan survives, and the number.
    ///   - finish: takes the error, nil if the source has nothing more, and the number.
    package mutating func scan<Shell: Actor>(
        _ source: any ScanSource, timing: ScanTiming? = nil, for shell: Shell,
        receive: @escaping @Sendable (isolated Shell, SensorReading, Int) async -> Void,
        report: @escaping @Sendable (isolated Shell, LocalizationError, Int) async -> Void,
        finish: @escaping @Sendable (isolated Shell, (any Error)?, Int) async -> Void
    ) {
        // That of the task which takes the place of this one.
        let next = number + 1
        let readings = source.beginReadings(timing: timing) { [weak shell] error in
            Task { if let shell { await report(shell, error, next) } }
        }
        follow(readings, for: shell, receive: receive, finish: finish)
    }

    /// Hands each element of a stream to an actor, and then why the stream has ended; until the actor goes away.
    ///
    /// - Parameters:
    ///   - receive: takes an element and the number of this task, which may have been replaced in the meantime.
    ///   - finish: takes the error, nil if the stream has nothing more, and the number.
    package mutating func follow<Shell: Actor, Element: Sendable>(
        _ stream: AsyncThrowingStream<Element, any Error>, for shell: Shell,
        receive: @escaping @Sendable (isolated Shell, Element, Int) async -> Void,
        finish: @escaping @Sendable (isolated Shell, (any Error)?, Int) async -> Void
    ) {
        begin { number in
            Task { [weak shell] in
                do {
                    for try await element in stream {
                        guard let shell, !Task.isCancelled else { return }
                        await receive(shell, element, number)
                    }
                    if let shell { await finish(shell, nil, number) }
                } catch {
                    if let shell { await finish(shell, error, number) }
                }
            }
        }
    }

    /// Hands each element of a stream to an actor, until the stream ends or the actor goes away.
    package mutating func follow<Shell: Actor, Element: Sendable>(
        _ stream: AsyncStream<Element>, for shell: Shell,
        receive: @escaping @Sendable (isolated Shell, Element, Int) async -> Void
    ) {
        begin { number in
            Task { [weak shell] in
                for await element in stream {
                    guard let shell, !Task.isCancelled else { return }
                    await receive(shell, element, number)
                }
            }
        }
    }
}
