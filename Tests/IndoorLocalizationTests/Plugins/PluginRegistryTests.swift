import IndoorLocalization
import XCTest

/// The rules of a host, without its calls.
final class PluginRegistryTests: XCTestCase {
    private final class Thing {}

    private let things = (0..<3).map { _ in Thing() }

    private func object(_ index: Int) -> ObjectIdentifier { ObjectIdentifier(things[index]) }

    private func error(_ message: String = "") -> PluginDelivery {
        .error(LocalizationError(code: .generic, message: message))
    }

    /// A registry with a running plugin that has subscribed to errors.
    private func running(_ count: Int = 1, capacity: Int? = 3) throws -> (PluginRegistry, [PluginID]) {
        var registry = PluginRegistry(capacity: capacity)
        var ids: [PluginID] = []
        for index in 0..<count {
            let id = try XCTUnwrap(registry.admit(object(index)))
            registry.subscribe(id, to: .errors)
            XCTAssertEqual(registry.finishInitializing(id, .accepted), .kept)
            ids.append(id)
        }
        return (registry, ids)
    }

    private func messages(_ registry: inout PluginRegistry, _ id: PluginID) -> [String] {
        var messages: [String] = []
        while case .error(let error)? = registry.next(for: id) { messages.append(error.message) }
        return messages
    }

    /// The messages and tags that wait for a plugin.
    private func told(_ registry: inout PluginRegistry, _ id: PluginID) -> [String] {
        var told: [String] = []
        while let delivery = registry.next(for: id) {
            switch delivery {
            case .error(let error): told.append(error.message)
            case .pluginData(let data): told.append(data.tag)
            case .position, .motion, .networkPosition, .networkData: XCTFail("\(delivery)")
            }
        }
        return told
    }

    func testPluginsAreNumberedInTheOrderOfAdditionWithoutReuse() throws {
        var registry = PluginRegistry(capacity: 1)
        let first = try XCTUnwrap(registry.admit(object(0)))
        XCTAssertNil(registry.admit(object(0)), "it is there")
        registry.remove(first)
        let again = try XCTUnwrap(registry.admit(object(0)))
        let second = try XCTUnwrap(registry.admit(object(1)))
        XCTAssertEqual([first, again, second].map(\.rawValue), [1, 2, 3])
        XCTAssertEqual(registry.identities, [again, second])
    }

    func testEachResultOfInitializeHasItsOwnAdmission() throws {
        let ends: [(PluginRegistry.Outcome, PluginRegistry.Admission, PluginRegistry.Phase?)] = [
            (.accepted, .kept, .running), (.refused, .stopOnce, .refused), (.failed, .dropped, nil),
        ]
        for (outcome, admission, phase) in ends {
            var registry = PluginRegistry(capacity: 1)
            let id = try XCTUnwrap(registry.admit(object(0)))
            XCTAssertEqual(registry.phase(of: id), .initializing)
            XCTAssertEqual(registry.finishInitializing(id, outcome), admission, "\(outcome)")
            XCTAssertEqual(registry.phase(of: id), phase, "\(outcome)")
        }
    }

    func testAPluginThatRemovesItselfWhileItInitializesIsNotKept() throws {
        var registry = PluginRegistry(capacity: 1)
        let id = try XCTUnwrap(registry.admit(object(0)))
        registry.remove(id)
        XCTAssertEqual(registry.finishInitializing(id, .accepted), .dropped)
        XCTAssertTrue(registry.isEmpty)
    }

    func testAPluginStopsOnceItAgrees() throws {
        var (registry, ids) = try running()
        XCTAssertTrue(registry.beginStopping(ids[0]))
        XCTAssertFalse(registry.beginStopping(ids[0]), "it is being stopped")
        registry.finishStopping(ids[0], false)
        XCTAssertEqual(registry.phase(of: ids[0]), .running)
        XCTAssertTrue(registry.beginStopping(ids[0]))
        registry.finishStopping(ids[0], true)
        XCTAssertTrue(registry.isEmpty)
        XCTAssertFalse(registry.beginStopping(ids[0]), "it is gone")
    }

    func testAPluginThatIsNotInitializedCannotStop() throws {
        var registry = PluginRegistry(capacity: 1)
        let id = try XCTUnwrap(registry.admit(object(0)))
        XCTAssertFalse(registry.beginStopping(id))
        _ = registry.finishInitializing(id, .refused)
        XCTAssertFalse(registry.beginStopping(id))
    }

    /// Unsubscribing removes streams again.
    func testSubscriptionsAddUpAndUndefinedStreamsAreIgnored() throws {
        var (registry, ids) = try running()
        registry.subscribe(ids[0], to: .positions)
        XCTAssertEqual(registry.streams(of: ids[0]), [.positions, .errors])
        registry.subscribe(ids[0], to: PluginStreams(rawValue: 192))
        XCTAssertEqual(registry.streams(of: ids[0]), [.positions, .errors])
        registry.unsubscribe(ids[0], from: [.errors, .pluginData])
        XCTAssertEqual(registry.streams(of: ids[0]), .positions)
        XCTAssertEqual(registry.streams(of: PluginID(rawValue: 99)), .nothing)
    }

    func testAFullQueueLosesTheOldestAndCountsThem() throws {
        var (registry, ids) = try running()
        for number in 0..<1000 { _ = registry.enqueue(error("\(number)")) }
        XCTAssertEqual(registry.dropped(of: ids[0]), 997)
        XCTAssertEqual(messages(&registry, ids[0]), ["997", "998", "999"])
        XCTAssertNil(registry.dropped(of: PluginID(rawValue: 99)))
    }

    func testAQueueWithoutALimitLosesNothing() throws {
        var (registry, ids) = try running(capacity: nil)
        for number in 0..<1000 { _ = registry.enqueue(error("\(number)")) }
        XCTAssertEqual(messages(&registry, ids[0]), (0..<1000).map { "\($0)" })
        XCTAssertEqual(registry.dropped(of: ids[0]), 0)
    }

    func testAFloodedStreamDisplacesNothingOfTheOthers() throws {
        var (registry, ids) = try running(2)
        registry.subscribe(ids[0], to: .pluginData)
        _ = registry.enqueue(error("1"))
        for number in 0..<2000 { _ = registry.enqueue(.pluginData(PluginData(tag: "\(number)", sender: ids[1]))) }
        _ = registry.enqueue(error("2"))
        XCTAssertEqual(told(&registry, ids[0]), ["1", "1997", "1998", "1999", "2"], "in the order of coming")
        XCTAssertEqual(registry.dropped(of: ids[0]), 1997)
    }

    func testAPluginThatSendsTooMuchDisplacesNothingOfOtherSenders() throws {
        var (registry, ids) = try running(3)
        registry.subscribe(ids[0], to: .pluginData)
        let gone = PluginID(rawValue: 99)
        _ = registry.enqueue(.pluginData(PluginData(tag: "hello", sender: ids[2])))
        for number in 0..<100 { _ = registry.enqueue(.pluginData(PluginData(tag: "\(number)", sender: ids[1]))) }
        for number in 0..<100 {
            let sender = PluginID(rawValue: gone.rawValue + UInt64(number))
            _ = registry.enqueue(.pluginData(PluginData(tag: "nobody's \(number)", sender: sender)))
        }
        XCTAssertEqual(
            told(&registry, ids[0]),
            ["hello", "97", "98", "99", "nobody's 97", "nobody's 98", "nobody's 99"],
            "those who are not there share one queue")
    }

    func testElementsOfSeveralStreamsAreDeliveredInTheOrderOfArrival() throws {
        var (registry, ids) = try running(capacity: nil)
        registry.subscribe(ids[0], to: .pluginData)
        for number in 0..<50 {
            _ = registry.enqueue(
                number % 3 == 0 ? error("\(number)") : .pluginData(PluginData(tag: "\(number)", sender: ids[0])))
        }
        XCTAssertEqual(told(&registry, ids[0]), (0..<50).map { "\($0)" })
        XCTAssertFalse(registry.wake(ids[0]), "nothing is left")
    }

    func testAFullQueueOfOnePluginDoesNotAffectAnother() throws {
        var (registry, ids) = try running(2)
        for number in 0..<5 {
            _ = registry.enqueue(error("\(number)"))
            XCTAssertEqual(messages(&registry, ids[1]), ["\(number)"])
        }
        XCTAssertEqual(registry.dropped(of: ids[0]), 2)
        XCTAssertEqual(registry.dropped(of: ids[1]), 0)
    }

    func testADeliveryStartsOnceAndAgainAfterTheQueueWasEmpty() throws {
        var (registry, ids) = try running()
        XCTAssertEqual(registry.enqueue(error("1")), ids)
        XCTAssertEqual(registry.enqueue(error("2")), [], "somebody does already")
        XCTAssertEqual(messages(&registry, ids[0]), ["1", "2"])
        XCTAssertEqual(registry.enqueue(error("3")), ids)
    }

    func testNothingIsDeliveredBeforeAPluginIsInitialized() throws {
        var registry = PluginRegistry(capacity: 3)
        let id = try XCTUnwrap(registry.admit(object(0)))
        registry.subscribe(id, to: .errors)
        XCTAssertEqual(registry.enqueue(error("1")), [])
        XCTAssertNil(registry.next(for: id))
        _ = registry.finishInitializing(id, .accepted)
        XCTAssertTrue(registry.wake(id))
        XCTAssertEqual(messages(&registry, id), ["1"])
    }

    func testARefusedPluginReceivesNothingAndCannotSubscribe() throws {
        var registry = PluginRegistry(capacity: 3)
        let id = try XCTUnwrap(registry.admit(object(0)))
        registry.subscribe(id, to: .errors)
        _ = registry.enqueue(error("1"))
        _ = registry.finishInitializing(id, .refused)
        registry.subscribe(id, to: .all)
        XCTAssertEqual(registry.enqueue(error("2")), [])
        XCTAssertFalse(registry.wake(id))
        XCTAssertNil(registry.next(for: id))
    }

    func testAStoppingPluginReceivesElementsUntilItAgrees() throws {
        var (registry, ids) = try running()
        XCTAssertTrue(registry.beginStopping(ids[0]))
        XCTAssertEqual(registry.enqueue(error("1")), ids)
        XCTAssertEqual(messages(&registry, ids[0]), ["1"])
        _ = registry.enqueue(error("2"))
        registry.finishStopping(ids[0], true)
        XCTAssertNil(registry.next(for: ids[0]), "it is gone with what waited")
    }

    func testAStreamWithoutASubscriptionIsNotDelivered() throws {
        var (registry, ids) = try running()
        XCTAssertEqual(registry.enqueue(.pluginData(PluginData(tag: "x"))), [])
        _ = registry.enqueue(error("waits"))
        registry.unsubscribe(ids[0], from: .errors)
        XCTAssertNil(registry.next(for: ids[0]), "nor what waited when the plugin unsubscribed")
        XCTAssertEqual(registry.dropped(of: ids[0]), 0, "it was not lost by being slow")
    }

    func testASecondRemovalHasNoEffect() throws {
        var (registry, ids) = try running(2)
        registry.remove(ids[0])
        registry.remove(ids[0])
        XCTAssertEqual(registry.identities, [ids[1]])
    }
}
