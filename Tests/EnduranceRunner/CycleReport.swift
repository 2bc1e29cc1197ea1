import Foundation
import IndoorLocalization

/// What remains after many cycles of a subject.
struct CycleReport: Codable {
    var subject: String
    var cycles: Int
    var seconds: Double
    /// After a tenth of the cycles, when the caches are full.
    var before: Usage
    var after: Usage
    /// The objects of the cycles that still exist.
    var survivors: Int

    init(of subject: CycleSubject, _ count: Int) async throws {
        self.subject = subject.rawValue
        cycles = count
        let begin = ContinuousClock.now
        let remains = Remains()
        let stage = try await CycleStage(subject)
        try await stage.run(max(20, count / 10), remains)
        _ = await remains.settle()
        before = try Usage()
        try await stage.run(count, remains)
        survivors = await remains.settle()
        after = try Usage()
        seconds = begin.duration(to: .now).seconds
        stage.end()
    }
}

/// Weak references to the objects of cycles.
final class Remains: Sendable {
    private struct Reference: Sendable { weak var object: (any AnyObject & Sendable)? }

    private let references = Guarded<[Reference]>([])

    /// Watches an object. The references of released objects are removed, so that they need no memory themselves.
    func watch(_ object: any AnyObject & Sendable) {
        references.withLock { references in
            if references.count >= 64 { references.removeAll { $0.object == nil } }
            references.append(Reference(object: object))
        }
    }

    /// The number of objects that exist.
    var count: Int { references.withLock { references in references.count { $0.object != nil } } }

    /// Waits, within a limit, until tasks that have been cancelled have released their objects.
    ///
    /// - Returns: the number of objects that still exist.
    func settle() async -> Int {
        for _ in 0..<100_000 where count > 0 { await Task.yield() }
        defer { references.withLock { $0 = [] } }
        return count
    }
}
