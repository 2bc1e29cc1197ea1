import IndoorLocalization
import XCTest

/// When passes begin and end.
final class DutyCycleMachineTests: XCTestCase {
    private typealias Machine = DutyCycleMachine

    private func at(_ seconds: Double) -> Instant { Instant(seconds: seconds) }

    /// The instants in seconds at which passes begin (positive) and end (negative), wake by wake.
    private func boundaries(of machine: inout Machine, until last: Double) -> [String] {
        var seen: [String] = []
        while let wake = machine.nextWake, wake.seconds <= last {
            for directive in machine.handle(.tick, at: wake) {
                seen.append("\(directive == .beginPass ? "begin" : "end") \(wake.seconds)")
            }
        }
        return seen
    }

    func testTheFirstPassBeginsAtOnce() {
        var machine = Machine(DutyCycle())
        XCTAssertEqual(machine.handle(.start, at: at(3)), [.beginPass])
        XCTAssertEqual(machine.state, .scanning(until: at(13)))
        XCTAssertTrue(machine.isScanning)
    }

    /// The first pass begins at once and takes 10 s. Between two passes are 90 s, so a period is 100 s.
    func testStartAt0StopAt10NextStartAt100() {
        var machine = Machine(DutyCycle())
        XCTAssertEqual(machine.handle(.start, at: .zero), [.beginPass])
        XCTAssertEqual(
            boundaries(of: &machine, until: 210), ["end 10.0", "begin 100.0", "end 110.0", "begin 200.0", "end 210.0"])
    }

    /// The factor multiplies the rest between two passes.
    func testAFactorOfTwoMakesTheNextStartAt190() {
        var machine = Machine(DutyCycle(scanDuration: .seconds(10), interval: .seconds(90), intervalFactor: 2))
        _ = machine.handle(.start, at: .zero)
        XCTAssertEqual(boundaries(of: &machine, until: 200), ["end 10.0", "begin 190.0", "end 200.0"])
    }

    func testAContinuousPassHasNoEndUntilStop() {
        var machine = Machine(.continuous)
        XCTAssertEqual(machine.handle(.start, at: .zero), [.beginPass])
        XCTAssertNil(machine.nextWake)
        XCTAssertEqual(machine.handle(.tick, at: at(1e9)), [])
        XCTAssertEqual(machine.handle(.stop, at: at(1e9)), [.endPass])
        XCTAssertEqual(machine.state, .stopped)
    }

    func testStopEndsThePresentPassAndNothingFollows() {
        var machine = Machine(DutyCycle())
        _ = machine.handle(.start, at: .zero)
        XCTAssertEqual(machine.handle(.stop, at: at(4)), [.endPass])
        XCTAssertNil(machine.nextWake)
        XCTAssertEqual(machine.handle(.tick, at: at(10)), [])
        XCTAssertEqual(machine.handle(.stop, at: at(11)), [])
        XCTAssertEqual(machine.state, .stopped)
    }

    func testStopBetweenTwoPassesEndsNone() {
        var machine = Machine(DutyCycle())
        _ = machine.handle(.start, at: .zero)
        _ = machine.handle(.tick, at: at(10))
        XCTAssertEqual(machine.state, .waiting(until: at(100)))
        XCTAssertEqual(machine.handle(.stop, at: at(50)), [])
        XCTAssertEqual(machine.state, .stopped)
    }

    func testStartingTwiceIsOneStart() {
        var machine = Machine(DutyCycle())
        _ = machine.handle(.start, at: .zero)
        XCTAssertEqual(machine.handle(.start, at: at(5)), [])
        XCTAssertEqual(machine.state, .scanning(until: at(10)))
        _ = machine.handle(.tick, at: at(10))
        XCTAssertEqual(machine.handle(.start, at: at(20)), [])
        XCTAssertEqual(machine.state, .waiting(until: at(100)))
    }

    func testAChangedCycleAppliesFromTheNextBoundary() {
        let quick = DutyCycle(scanDuration: .seconds(1), interval: .seconds(2))
        var machine = Machine(DutyCycle())
        _ = machine.handle(.start, at: .zero)
        XCTAssertEqual(machine.handle(.change(quick), at: at(5)), [])
        XCTAssertEqual(boundaries(of: &machine, until: 15), ["end 10.0", "begin 12.0", "end 13.0", "begin 15.0"])
        XCTAssertEqual(machine.handle(.tick, at: at(16)), [.endPass])
        XCTAssertEqual(machine.handle(.change(DutyCycle()), at: at(17)), [])
        XCTAssertEqual(boundaries(of: &machine, until: 28), ["begin 18.0", "end 28.0"], "the rest was not prolonged")
    }

    func testACycleThatBecomesContinuousContinuesAtItsNextBoundary() {
        var machine = Machine(DutyCycle())
        _ = machine.handle(.start, at: .zero)
        _ = machine.handle(.change(.continuous), at: at(5))
        XCTAssertEqual(machine.handle(.tick, at: at(10)), [], "the pass goes on")
        XCTAssertEqual(machine.state, .scanning(until: nil))
    }

    func testAContinuousPassThatIsGivenACycleEndsOneDurationLater() {
        var machine = Machine(.continuous)
        _ = machine.handle(.start, at: .zero)
        XCTAssertEqual(machine.handle(.change(DutyCycle()), at: at(77)), [])
        XCTAssertEqual(boundaries(of: &machine, until: 177), ["end 87.0", "begin 177.0"])
    }

    func testWithoutAnIntervalPassesFollowEachOther() {
        var machine = Machine(DutyCycle(scanDuration: .seconds(10), interval: .zero))
        _ = machine.handle(.start, at: .zero)
        XCTAssertEqual(boundaries(of: &machine, until: 20), ["end 10.0", "begin 10.0", "end 20.0", "begin 20.0"])
    }

    func testATickThatComesLateLeavesThePauseAsItIs() {
        var machine = Machine(DutyCycle())
        _ = machine.handle(.start, at: .zero)
        XCTAssertEqual(machine.handle(.tick, at: at(3600)), [.endPass])
        XCTAssertEqual(machine.state, .waiting(until: at(3690)))
    }

    func testAGapOfYearsTakesABoundedNumberOfSteps() {
        var machine = Machine(DutyCycle(scanDuration: .milliseconds(10), interval: .zero))
        _ = machine.handle(.start, at: .zero)
        _ = machine.catchUp(to: at(3e9))
        XCTAssertEqual(machine.nextWake, at(3e9))
        _ = machine.catchUp(to: at(3e9 + 0.005))
        XCTAssertGreaterThan(machine.nextWake ?? .zero, at(3e9 + 0.005))
    }

    func testEveryPassBeginsOnceAndEndsOnceForRandomEvents() {
        for seed in [1, 2, 3, 0xC0FFEE] as [UInt64] {
            var generator = SeededGenerator(seed: seed)
            var machine = Machine(DutyCycle())
            var now = 0.0
            var isOn = false
            var passes = 0
            for step in 0..<20_000 {
                now += 30 * generator.uniform()
                let event = event(&generator)
                let directives = machine.handle(event, at: at(now))
                XCTAssertLessThanOrEqual(directives.count, 1, "seed \(seed), step \(step)")
                for directive in directives {
                    XCTAssertEqual(directive, isOn ? .endPass : .beginPass, "seed \(seed), step \(step)")
                    isOn.toggle()
                    passes += 1
                }
                XCTAssertEqual(machine.isScanning, isOn, "seed \(seed), step \(step)")
                if event == .stop { XCTAssertNil(machine.nextWake, "seed \(seed), step \(step)") }
                if event == .tick, let wake = machine.nextWake {
                    XCTAssertGreaterThanOrEqual(wake, at(now), "seed \(seed), step \(step): a tick does what is due")
                }
            }
            XCTAssertGreaterThan(passes, 1000, "seed \(seed)")
        }
    }

    private func event(_ generator: inout SeededGenerator) -> Machine.Event {
        switch Int.random(in: 0..<20, using: &generator) {
        case 0..<3: .start
        case 3: .stop
        case 4:
            .change(
                DutyCycle(
                    scanDuration: .seconds(1 + 20 * generator.uniform()), interval: .seconds(50 * generator.uniform()),
                    intervalFactor: 2 * generator.uniform()))
        case 5: .change(.continuous)
        default: .tick
        }
    }

    func testAShiftOfTheTimelineShiftsTheBoundaries() {
        var machine = Machine(DutyCycle())
        _ = machine.handle(.start, at: .zero)
        machine.shift(by: .seconds(5000))
        XCTAssertEqual(boundaries(of: &machine, until: 5100), ["end 5010.0", "begin 5100.0"])
    }
}
