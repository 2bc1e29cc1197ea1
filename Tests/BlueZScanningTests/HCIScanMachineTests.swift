import BlueZScanning
import Glibc
import IndoorLocalization
import XCTest

final class HCIScanMachineTests: XCTestCase {
    private typealias Stage = HCIScanStage
    private var stage = HCIScanStage()
    private let end = HCIScanMachine.Directive.send(HCIScanCommands.legacy.enable(false))

    // MARK: - Beginning

    func testAnAdapterThatIsOnIsOpened() {
        XCTAssertEqual(stage.handle(.begin), [.listDevices])
        XCTAssertEqual(stage.handle(.devices([Stage.on])), [.open(0)])
        XCTAssertEqual(stage.handle(.opened(nil)), [Stage.readCommands])
        XCTAssertEqual(stage.machine.state, .linked(Stage.on, since: stage.now))
    }

    func testAnAdapterThatIsOffIsPoweredOnFirst() {
        _ = stage.handle(.begin)
        XCTAssertEqual(stage.handle(.devices([Stage.off])), [.powerUp(0)])
        XCTAssertEqual(stage.handle(.poweredUp(0, nil)), [.open(0)])
    }

    func testTheScanIsReportedOnce() {
        stage.scan()
        XCTAssertEqual(stage.machine.link.phase, .scanning)
        _ = stage.handle(.link(.command(HCILinkStage.foreignStop)))
        _ = stage.answer(0x200C)
        _ = stage.pass(.milliseconds(250))
        _ = stage.answer(0x200B)
        XCTAssertEqual(stage.answer(0x200C), [], "the reported status has not changed")
        XCTAssertEqual(stage.machine.link.phase, .scanning)
    }

    func testTheMachineWaitsForAnAdapter() {
        _ = stage.handle(.begin)
        XCTAssertEqual(stage.handle(.devices([])), [.yield(.unplugged, adapter: nil, detail: nil)])
        XCTAssertNil(stage.machine.deadline)
        XCTAssertEqual(stage.handle(.device(.registered, id: 3)), [.listDevices])
        XCTAssertEqual(stage.handle(.devices([])), [], "no report is repeated")
        let device = HCIDevice(id: 3, address: Stage.address, isPowered: true)
        XCTAssertEqual(stage.handle(.devices([device])), [.open(3)])
    }

    func testTheReportOfAMissingAdapterContainsItsName() {
        stage = HCIScanStage(.named("hci1"))
        _ = stage.handle(.begin)
        XCTAssertEqual(stage.handle(.devices([Stage.on])), [.yield(.unplugged, adapter: "hci1", detail: nil)])
        let device = HCIDevice(id: 1, address: nil, isPowered: true)
        _ = stage.handle(.device(.up, id: 1))
        XCTAssertEqual(stage.handle(.devices([Stage.on, device])), [.open(1)])
    }

    func testAnAdapterChosenByAddressIsFoundOnceItReportsTheAddress() {
        stage = HCIScanStage(.address(Stage.address))
        _ = stage.handle(.begin)
        XCTAssertEqual(
            stage.handle(.devices([HCIDevice(id: 2, address: nil, isPowered: false)])),
            [.yield(.unplugged, adapter: nil, detail: "no adapter has the address C0:05:04:03:02:01")])
        XCTAssertEqual(stage.handle(.device(.up, id: 2)), [.listDevices])
        XCTAssertEqual(
            stage.handle(.devices([HCIDevice(id: 2, address: Stage.address, isPowered: true)])), [.open(2)])
    }

    func testAnAdapterWithoutAPublicAddressUsesARandomOne() {
        _ = stage.handle(.begin)
        _ = stage.handle(.devices([HCIDevice(id: 0, address: nil, isPowered: true)]))
        _ = stage.handle(.opened(nil))
        var parameters = Stage.parameters
        parameters.usesRandomAddress = true
        XCTAssertEqual(stage.answer(0x1002), [.send(HCIScanCommands.legacy.parameters(parameters))])
    }

    func testAnAddressReportedOnlyAfterPowerOnIsUsed() {
        _ = stage.handle(.begin)
        _ = stage.handle(.devices([HCIDevice(id: 0, address: nil, isPowered: false)]))
        _ = stage.handle(.poweredUp(0, nil))
        XCTAssertEqual(stage.handle(.devices([Stage.on])), [])
        _ = stage.handle(.opened(nil))
        XCTAssertEqual(stage.machine.state, .linked(Stage.on, since: stage.now))
        XCTAssertEqual(stage.answer(0x1002), [.send(HCIScanCommands.legacy.parameters(Stage.parameters))])
    }

    // MARK: - Power

    func testAnAdapterThatIsSwitchedOffStaysOffUntilSomebodySwitchesItOn() {
        stage.scanForAMinute()
        XCTAssertEqual(
            stage.handle(.device(.down, id: 0)), [.close, .yield(.poweredOff, adapter: "hci0", detail: nil)])
        XCTAssertNil(stage.machine.deadline)
        XCTAssertEqual(stage.handle(.device(.up, id: 0)), [.listDevices])
        XCTAssertEqual(stage.handle(.devices([Stage.on])), [.open(0)])
        _ = stage.handle(.opened(nil))
        _ = stage.answer(0x1002)
        _ = stage.answer(0x200B)
        XCTAssertEqual(stage.answer(0x200C), [.yield(.scanning, adapter: "hci0", detail: nil)])
    }

    func testAnAdapterThatAPersonSwitchedOffIsNotPoweredOn() {
        stage.scanForAMinute()
        _ = stage.handle(.device(.down, id: 0))
        _ = stage.handle(.device(.up, id: 0))
        XCTAssertEqual(stage.handle(.devices([Stage.off])), [], "the loss of power was already reported")
        XCTAssertEqual(stage.machine.state, .off(Stage.off, .poweredOff, since: stage.now, retry: nil))
    }

    func testAnAdapterThatTheScanPoweredOnIsPoweredOffAtTheEnd() {
        stage.scanPoweredUp()
        XCTAssertEqual(stage.handle(.stop), [end, .close, .powerDown(0)])
        XCTAssertEqual(stage.machine.state, .finished)
    }

    func testAnAdapterThatTheKernelWasAboutToPowerOffIsPoweredOffAtTheEnd() {
        _ = stage.handle(.begin)
        _ = stage.handle(.devices([Stage.off]))
        XCTAssertEqual(stage.handle(.poweredUp(0, EALREADY)), [.open(0)])
        XCTAssertEqual(stage.handle(.opened(nil)), [Stage.readCommands])
        XCTAssertEqual(stage.handle(.stop), [.close, .powerDown(0)])
    }

    func testAnAdapterThatAnotherProgramPoweredOnStaysOn() {
        stage.scanPoweredUp()
        stage.now = stage.now.advanced(by: .seconds(60))
        _ = stage.handle(.device(.down, id: 0))
        _ = stage.handle(.device(.up, id: 0))
        _ = stage.handle(.devices([Stage.on]))
        _ = stage.handle(.opened(nil))
        stage.answerUntilScanning()
        XCTAssertEqual(stage.handle(.stop), [end, .close])
    }

    func testWithoutPermissionToPowerOnTheReportNamesTheGrant() {
        _ = stage.handle(.begin)
        _ = stage.handle(.devices([Stage.off]))
        guard case .yield(.poweredOff, "hci0", let detail?)? = stage.handle(.poweredUp(0, EPERM)).first else {
            return XCTFail("an event with a detail was expected")
        }
        XCTAssertTrue(detail.contains("sudo setcap cap_net_raw,cap_net_admin+ep /"), detail)
        XCTAssertNil(stage.machine.deadline)
    }

    func testAFailedPowerOnIsRetriedWithGrowingPauses() {
        _ = stage.handle(.begin)
        var rests: [Double] = []
        for attempt in 0..<7 {
            _ = stage.handle(.devices([Stage.off]))
            let directives = stage.handle(.poweredUp(0, EIO))
            XCTAssertEqual(
                directives,
                attempt == 0
                    ? [.yield(.refused, adapter: "hci0", detail: "powering on the adapter failed: Input/output error")]
                    : [])
            let deadline = stage.machine.deadline ?? stage.now
            rests.append(stage.now.duration(to: deadline).seconds)
            stage.now = deadline
            XCTAssertEqual(stage.handle(.tick), [.listDevices])
        }
        XCTAssertEqual(rests, [1, 2, 4, 8, 16, 30, 30])
    }

    func testAnAdapterThatAnotherScanUsesStaysOn() {
        let commands = [
            HCILinkStage.readCommands, HCILinkStage.foreignParameters, HCILinkStage.foreignStart,
        ]
        for command in commands {
            var stage = HCIScanStage()
            stage.scanPoweredUp()
            _ = stage.handle(.link(.command(command)))
            XCTAssertFalse(stage.handle(.stop).contains(.powerDown(0)), "\(command)")
        }
    }

    func testSetupCommandsAreNotAScanOfAnotherProgram() {
        stage.scanPoweredUp()
        _ = stage.handle(.link(.command(HCICommand(opcode: 0x2001, parameters: [0, 0, 0, 0, 0, 0, 0, 0]))))
        XCTAssertEqual(stage.handle(.stop), [end, .close, .powerDown(0)])
    }

    func testAnAdapterThatAnEndingScanPowersOffIsPoweredOnAgain() {
        stage.scan()
        stage.now = stage.now.advanced(by: .milliseconds(900))
        XCTAssertEqual(stage.handle(.device(.down, id: 0)), [.close, .listDevices])
        XCTAssertEqual(stage.handle(.devices([Stage.off])), [.powerUp(0)])
        XCTAssertEqual(stage.handle(.poweredUp(0, nil)), [.open(0)])
        _ = stage.handle(.opened(nil))
        stage.answerUntilScanning()
        XCTAssertEqual(stage.handle(.stop), [end, .close, .powerDown(0)])
    }

    // MARK: - Radio switches

    func testABlockedAdapterIsPoweredOnOnceItIsReleased() {
        _ = stage.handle(.begin)
        _ = stage.handle(.devices([Stage.off]))
        XCTAssertEqual(stage.handle(.poweredUp(0, ERFKILL)), [.yield(.blocked, adapter: "hci0", detail: nil)])
        XCTAssertEqual(stage.handle(.blocked([])), [.listDevices])
        XCTAssertEqual(stage.handle(.devices([Stage.off])), [.powerUp(0)])
    }

    func testABlockedAdapterIsRetriedPeriodically() {
        _ = stage.handle(.begin)
        _ = stage.handle(.devices([Stage.off]))
        _ = stage.handle(.poweredUp(0, ERFKILL))
        XCTAssertEqual(stage.pass(.seconds(5)), [.listDevices])
        XCTAssertEqual(stage.handle(.devices([Stage.off])), [.powerUp(0)])
        XCTAssertEqual(stage.handle(.poweredUp(0, ERFKILL)), [])
    }

    func testAnAdapterThatASwitchTurnedOffIsPoweredOnAfterItsRelease() {
        stage.scanForAMinute()
        _ = stage.handle(.device(.down, id: 0))
        XCTAssertEqual(stage.handle(.blocked([0])), [.yield(.blocked, adapter: "hci0", detail: nil)])
        XCTAssertEqual(stage.handle(.blocked([])), [.listDevices])
        XCTAssertEqual(stage.handle(.devices([Stage.off])), [.powerUp(0)])
    }

    func testAnAdapterThatWasOffBeforeASwitchStaysOffAfterItsRelease() {
        stage.scanForAMinute()
        _ = stage.handle(.device(.down, id: 0))
        _ = stage.pass(.seconds(2))
        _ = stage.handle(.blocked([0]))
        _ = stage.handle(.blocked([]))
        XCTAssertEqual(
            stage.handle(.devices([Stage.off])), [.yield(.poweredOff, adapter: "hci0", detail: nil)])
    }

    func testTheReportOfASwitchMayPrecedeTheLossOfPower() {
        stage.scanForAMinute()
        XCTAssertEqual(stage.handle(.blocked([0])), [])
        XCTAssertEqual(
            stage.handle(.device(.down, id: 0)), [.close, .yield(.blocked, adapter: "hci0", detail: nil)])
        XCTAssertEqual(stage.handle(.blocked([])), [.listDevices])
        XCTAssertEqual(stage.handle(.devices([Stage.off])), [.powerUp(0)])
    }

    func testSwitchesOfOtherAdaptersAreIgnored() {
        stage.scanForAMinute()
        XCTAssertEqual(stage.handle(.blocked([1])), [])
        _ = stage.handle(.device(.down, id: 0))
        XCTAssertEqual(stage.handle(.blocked([])), [])
        XCTAssertEqual(stage.machine.state, .off(Stage.on, .poweredOff, since: stage.now, retry: nil))
    }

    // MARK: - Plugging

    func testAnUnpluggedAdapterIsFoundAgainUnderAnotherName() {
        stage = HCIScanStage(.address(Stage.address))
        stage.scan()
        XCTAssertEqual(
            stage.handle(.device(.unregistered, id: 0)),
            [.close, .yield(.unplugged, adapter: "hci0", detail: nil), .listDevices])
        XCTAssertEqual(stage.handle(.devices([])), [])
        _ = stage.handle(.device(.registered, id: 1))
        XCTAssertEqual(
            stage.handle(.devices([HCIDevice(id: 1, address: Stage.address, isPowered: false)])), [.powerUp(1)])
        XCTAssertEqual(stage.handle(.poweredUp(0, nil)), [], "a late event of another adapter")
        _ = stage.handle(.poweredUp(1, nil))
        _ = stage.handle(.opened(nil))
        _ = stage.answer(0x1002)
        _ = stage.answer(0x200B)
        XCTAssertEqual(stage.answer(0x200C), [.yield(.scanning, adapter: "hci1", detail: nil)])
        XCTAssertEqual(stage.handle(.stop), [end, .close, .powerDown(1)])
    }

    func testAnotherAdapterReplacesTheFirst() {
        stage.scan()
        _ = stage.handle(.device(.unregistered, id: 0))
        let device = HCIDevice(id: 1, address: nil, isPowered: true)
        XCTAssertEqual(stage.handle(.devices([device])), [.open(1)])
    }

    func testAnAdapterMayBeUnpluggedAtAnyTime() {
        typealias Event = HCIScanMachine.Event
        let supported = Event.link(.answer(HCIAnswer(opcode: 0x1002, status: 0)))
        let parameters = Event.link(.answer(HCIAnswer(opcode: 0x200B, status: 0)))
        let enabled = Event.link(.answer(HCIAnswer(opcode: 0x200C, status: 0)))
        let begun: [Event] = [.devices([Stage.off]), .poweredUp(0, nil), .opened(nil), supported, parameters, enabled]
        for count in 1...begun.count {
            var stage = HCIScanStage()
            _ = stage.handle(.begin)
            for event in begun.prefix(count) { _ = stage.handle(event) }
            let isOpen = count > 2
            XCTAssertEqual(
                stage.handle(.device(.unregistered, id: 0)),
                (isOpen ? [.close] : []) + [.yield(.unplugged, adapter: "hci0", detail: nil), .listDevices],
                "after \(begun[count - 1])")
            XCTAssertEqual(stage.machine.state, .searching)
            XCTAssertEqual(stage.handle(.devices([])), [])
            // Earlier events of the adapter arrive too late.
            for event in [supported, parameters, enabled, .lost] { XCTAssertEqual(stage.handle(event), []) }
            XCTAssertEqual(stage.handle(.stop), [], "nothing is left to restore")
        }
    }

    func testChangesOfOtherAdaptersAreIgnored() {
        stage.scan()
        for change in HCIDeviceChange.allCases {
            XCTAssertEqual(stage.handle(.device(change, id: 7)), [], "\(change)")
        }
        XCTAssertEqual(stage.machine.state, .linked(Stage.on, since: stage.now))
    }

    func testAFailedSocketIsReopened() {
        stage.scan()
        XCTAssertEqual(stage.handle(.lost), [.close])
        XCTAssertEqual(stage.pass(.seconds(1)), [.listDevices])
        XCTAssertEqual(stage.handle(.devices([Stage.on])), [.open(0)])
    }

    func testAnAdapterThatIsGoneWhenOpenedIsRetried() {
        _ = stage.handle(.begin)
        _ = stage.handle(.devices([Stage.on]))
        XCTAssertEqual(
            stage.handle(.opened(ENODEV)),
            [.yield(.refused, adapter: "hci0", detail: "opening the adapter failed: No such device")])
        XCTAssertEqual(stage.pass(.seconds(1)), [.listDevices])
    }

    func testADeniedAdapterEndsTheScan() {
        stage = HCIScanStage()
        _ = stage.handle(.begin)
        _ = stage.handle(.devices([Stage.off]))
        _ = stage.handle(.poweredUp(0, nil))
        let directives = stage.handle(.opened(EPERM))
        XCTAssertEqual(directives.first, .powerDown(0), "the adapter is restored before the report")
        guard case .fail(.notPermitted)? = directives.last else { return XCTFail("\(directives)") }
        XCTAssertEqual(stage.machine.state, .finished)
    }

    // MARK: - Losses and the end

    func testLossesAreReportedWhileTheAdapterScans() {
        stage.scanForAMinute()
        XCTAssertEqual(
            stage.handle(.overrun(packets: 3)),
            [
                .yield(
                    .scanning, adapter: "hci0", detail: "3 packets were lost because they were not read fast enough")
            ])
        _ = stage.handle(.device(.down, id: 0))
        XCTAssertEqual(stage.handle(.overrun(packets: 3)), [])
    }

    func testNoDirectiveFollowsTheEnd() {
        stage.scan()
        XCTAssertEqual(stage.handle(.stop), [end, .close])
        let events: [HCIScanMachine.Event] = [
            .begin, .devices([Stage.on]), .device(.up, id: 0), .blocked([]), .blocked([0]), .lost, .tick, .stop,
        ]
        for event in events { XCTAssertEqual(stage.handle(event), [], "\(event)") }
        XCTAssertEqual(stage.machine.state, .finished)
        XCTAssertNil(stage.machine.deadline)
    }

    func testAnAdapterThatIsPoweredOnAfterTheEndIsPoweredOffAgain() {
        _ = stage.handle(.begin)
        _ = stage.handle(.devices([Stage.off]))
        XCTAssertEqual(stage.handle(.stop), [])
        XCTAssertEqual(stage.handle(.poweredUp(0, EALREADY)), [])
        XCTAssertEqual(stage.handle(.poweredUp(0, nil)), [.powerDown(0)])
    }

    func testStoppingBeforeTheStartRestoresNothing() {
        XCTAssertEqual(stage.handle(.stop), [])
        XCTAssertEqual(stage.handle(.begin), [])
    }
}

/// The timing of the radio in each power mode.
final class HCIScanTimingTests: XCTestCase {
    func testATimingReplacesWindowAndIntervalAndNothingElse() {
        var source = HCIScanSource(adapter: .named("hci1"), mode: .active, content: .everything)
        source.initialDetail = "the second route"
        let timed = source.with(PowerMode.aggressive.timing)
        XCTAssertEqual(timed.window, .milliseconds(30))
        XCTAssertEqual(timed.interval, .milliseconds(60))
        XCTAssertEqual(timed.adapter, source.adapter)
        XCTAssertEqual(timed.mode, .active)
        XCTAssertEqual(timed.content, .everything)
        XCTAssertEqual(timed.initialDetail, "the second route")
    }

    func testTheTimingsOfThePowerModesAreWholeUnitsOfTheController() {
        for mode in PowerMode.allCases {
            let timing = mode.timing
            let parameters = HCIScanParameters(isActive: false, window: timing.window, interval: timing.interval)
            XCTAssertEqual(Duration.microseconds(625) * Int(parameters.window), timing.window, "\(mode)")
            XCTAssertEqual(Duration.microseconds(625) * Int(parameters.interval), timing.interval, "\(mode)")
        }
    }
}

/// A scan machine with a clock, and functions for its events.
struct HCIScanStage {
    typealias Directive = HCIScanMachine.Directive

    var machine: HCIScanMachine
    var now = Instant(seconds: 100)

    static let parameters = HCILinkStage.parameters
    static let address = DeviceAddress(rawValue: 0xC005_0403_0201, kind: .public)
    static let on = HCIDevice(id: 0, address: address, isPowered: true)
    static let off = HCIDevice(id: 0, address: address, isPowered: false)
    static let readCommands = Directive.send(HCILinkStage.readCommands)

    init(_ choice: AdapterChoice = .first) {
        machine = HCIScanMachine(choice: choice, parameters: Self.parameters)
    }

    mutating func handle(_ event: HCIScanMachine.Event) -> [Directive] { machine.handle(event, at: now) }

    mutating func pass(_ duration: Duration) -> [Directive] {
        now = now.advanced(by: duration)
        return handle(.tick)
    }

    mutating func answer(_ opcode: UInt16, _ status: UInt8 = 0) -> [Directive] {
        handle(.link(.answer(HCIAnswer(opcode: opcode, status: status))))
    }

    /// Answers the machine's commands until the scan runs.
    mutating func answerUntilScanning() {
        _ = answer(0x1002)
        _ = answer(0x200B)
        _ = answer(0x200C)
    }

    /// Runs the machine until it scans with an adapter that was on.
    mutating func scan(_ device: HCIDevice = HCIScanStage.on) {
        _ = handle(.begin)
        _ = handle(.devices([device]))
        _ = handle(.opened(nil))
        answerUntilScanning()
    }

    /// Runs the machine until it has scanned for a while with an adapter that was on.
    mutating func scanForAMinute() {
        scan()
        now = now.advanced(by: .seconds(60))
    }

    /// Runs the machine until it scans with an adapter that was off.
    mutating func scanPoweredUp() {
        _ = handle(.begin)
        _ = handle(.devices([Self.off]))
        _ = handle(.poweredUp(0, nil))
        _ = handle(.opened(nil))
        answerUntilScanning()
    }
}
