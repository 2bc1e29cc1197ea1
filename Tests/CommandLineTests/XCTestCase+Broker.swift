import LoopbackServers
import XCTest

extension XCTestCase {
    /// A broker that is there until the test is over.
    func broker() throws -> MosquittoBroker {
        let broker = try MosquittoBroker(folder: try temporaryFolder())
        // XCTest wants a block that may run anywhere; it runs after the test, when nobody else uses the broker.
        nonisolated(unsafe) let stopped = broker
        addTeardownBlock { stopped.kill() }
        return broker
    }
}
